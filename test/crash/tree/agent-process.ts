/** A worker of the tree, in a process of its own that may be killed at any moment. The world sees what it does. */
import { appendFileSync } from 'node:fs'
import { z } from 'zod'
import { createStelloAgent } from '../../../src/agent/agent.ts'
import { type ToolContext, type ToolExtras } from '../../../src/tool/tool.ts'
import { tool } from '../../../src/tool/tool-function.ts'
import { openai } from '../../../src/models/openai/openai.ts'
import { startWorker } from '../../../src/worker.ts'
import { MAX_ROUNDS, paid } from './plan.ts'

export interface TreeWorkerSettings {
  agent: string
  temporalAddress: string
  databaseUrl: string
  modelUrl: string
  toolUrl: string
  effectsFile: string
}

const settings = JSON.parse(process.argv[2] ?? '') as TreeWorkerSettings

const tell = async (what: string): Promise<void> => {
  const response = await fetch(`${settings.toolUrl}/${what}`)
  await response.text()
}

function placed(
  name: string,
  extras: ToolExtras,
  execute: (place: string, ctx: ToolContext) => string | Promise<string>,
): ReturnType<typeof tool> {
  const work = async ({ place }: { place: string }, ctx: ToolContext): Promise<string> => {
    await tell(`${name}/begins`)
    const result = await execute(place, ctx)
    await tell(`${name}/ends`)
    return result
  }
  return tool(name, `Does ${name} at a place`, z.object({ place: z.string() }), work, extras)
}

const agent = createStelloAgent({
  name: settings.agent,
  llm: openai({ model: 'tree', baseURL: settings.modelUrl, headers: { 'x-worker': String(process.pid) } }),
  maxToolRounds: MAX_ROUNDS,
  timeoutsBeforePause: 3,
  systemTools: true,
  capabilities: {
    tools: [
      placed('look', { readOnlyHint: true }, (place) => `saw ${place}`),
      placed('keep', { idempotentHint: true }, (place) => `kept ${place}`),
      placed('pay', {}, (place, ctx) => {
        appendFileSync(settings.effectsFile, `${ctx.idempotencyKey}\n`)
        return paid(place)
      }),
      placed('hang', { readOnlyHint: true, timeout: '200ms' }, () => new Promise<never>(() => undefined)),
    ],
  },
})
const say = (message: string): void => console.error(new Date().toISOString(), process.pid, message)
const worker = await startWorker({ ...settings, agent, log: { info: say, warn: say } })
process.send?.('ready')
await worker.stopped
