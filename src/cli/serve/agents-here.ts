/** The agent modules that `stello dev` serves when no module is named. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const NAMES = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs']
const FOLDERS = ['.', 'src']

/** @returns the first of `agent.ts`, `agent.mts`, `agent.js` and `agent.mjs`, here or in `src`; none = an empty list */
export function agentsHere(cwd: string): string[] {
  const found = FOLDERS.flatMap((folder) => NAMES.map((name) => join(cwd, folder, name))).find((file) =>
    existsSync(file),
  )
  return found === undefined ? [] : [found]
}
