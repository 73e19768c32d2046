/**
 * A worker as a process of its own, for tests that kill it. Its model is the fake provider of the test; its tools knock
 * at the test's gate server before they return, so that the test knows what has begun and decides when it ends.
 */
import { z } from 'zod'
import { createStelloAgent } from '../../src/agent/agent.ts'
import { tool, type ToolExtras, type Verification } from '../../src/agent/tool.ts'
import { openai } from '../../src/models/openai.ts'
import { startWorker } from '../../src/worker.ts'

export interface WorkerSettings {
  agent: string
  temporalAddress: string
  databaseUrl: string
  modelUrl: string
  gateUrl: string
}

const settings = JSON.parse(process.argv[2] ?? '') as WorkerSettings

async function knock(name: string): Promise<string> {
  const answer = await fetch(`${settings.gateUrl}/${name}?pid=${process.pid}`)
  return answer.text()
}

function knocking(name: string, extras: ToolExtras): ReturnType<typeof tool> {
  return tool(name, `Knocks as ${name}`, z.object({}), () => knock(name), extras)
}

/** The test says what is found out, as JSON; what is no JSON makes it throw. */
async function verify(): Promise<Verification> {
  return JSON.parse(await knock('verify')) as Verification
}

const agent = createStelloAgent({
  name: settings.agent,
  llm: openai({ model: 'fake', baseURL: settings.modelUrl }),
  capabilities: {
    tools: [
      knocking('look', { readOnlyHint: true }),
      knocking('pay', {}),
      knocking('wire', { onUnknownOutcome: 'ask' }),
      knocking('post', { verify }),
    ],
  },
})
const worker = await startWorker({ ...settings, agent, log: { info: () => undefined, warn: () => undefined } })
process.once('SIGTERM', () => void worker.stop())
process.send?.('ready')
await worker.stopped
process.disconnect?.()
