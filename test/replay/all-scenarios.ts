/** Every scenario there is, with its agent. */
import { COMPACTIONS } from './compactions.ts'
import { SCENARIOS, scenarioAgent } from './scenarios.ts'
import type { Staged } from './staged.ts'
import { TREES } from './trees.ts'
import { WAITS } from './waits.ts'

export const ALL_SCENARIOS: Record<string, Staged> = {
  ...Object.fromEntries(Object.entries(SCENARIOS).map(([name, play]) => [name, { agent: scenarioAgent, play }])),
  ...WAITS,
  ...COMPACTIONS,
  ...TREES,
}
