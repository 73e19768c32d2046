/**
 * The cost of a tool call without any I/O, the cost of a model call that passes its gate, and how fast an action is
 * found in a reply.
 */
import { z } from 'zod'
import type { LiveStep } from '../src/activities/live-writer.ts'
import { Gates } from '../src/activities/model/gates.ts'
import { choiceOf } from '../src/activities/model/weather.ts'
import { CallValues } from '../src/activities/tool/call-values.ts'
import { runPhases } from '../src/activities/tool/phases.ts'
import { ToolChannel } from '../src/activities/tool/tool-channel.ts'
import { ToolInstance } from '../src/activities/tool/tool-instance.ts'
import { settlement } from '../src/activities/tool/finish.ts'
import { sessionTools } from '../src/agent/tool-list.ts'
import { createStelloAgent, extractJSON, tool } from '../src/index.ts'
import type { CallToolInput } from '../src/protocol/steps.ts'
import type { Values } from './figures.ts'
import { timed } from './turns.ts'

const TOOLS = 20
const CALLS = 2000
const PASSES = 100_000
const REPLIES = 500
const REPETITIONS = 9

const never = new AbortController().signal
const config = { agent: 'pipeline', label: 'pipeline', model: 'agent', tools: 'agent' } as const
const input: CallToolInput = {
  sessionId: 's',
  key: 't1.0.0',
  gen: 0,
  turn: 1,
  base: 2,
  place: { seq: 2, told: 0 },
  messageId: 'm',
  round: 0,
  index: 0,
  seq: 3,
  call: { id: 'c', name: 'tool_7' },
}

export async function measurePipeline(): Promise<Values<'pipeline'>> {
  const ms = await repeated(() => callMany(CALLS))
  const replies = Array.from({ length: REPLIES }, (_, n) => replyOf(n))
  const megabytes = replies.reduce((sum, reply) => sum + reply.length, 0) / 1e6
  const parsing = await repeated(async () => replies.forEach((reply) => extractJSON(reply)))
  const passing = await repeated(async () => passMany(PASSES))
  return {
    pipeline_us_per_call: (ms * 1000) / CALLS,
    model_gate_us: (passing * 1000) / PASSES,
    extract_json_mb_s: megabytes / (parsing / 1000),
  }
}

/** The smallest value counts. Nothing here waits, so other processes can only make it slower. */
async function repeated(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < REPETITIONS; n++) times.push(await timed(work))
  return Math.min(...times)
}

/** The same steps as in `call-model` when no provider is away. */
function passMany(passes: number): void {
  const gates = new Gates()
  for (let n = 0; n < passes; n++) {
    const pass = gates.enter(choiceOf(agent.llm))
    pass?.served()
    pass?.leave()
  }
}

/** The same steps as in `call-tool`: find, parse, validate, repair every second time, execute, normalise. */
async function callMany(calls: number): Promise<void> {
  for (let n = 0; n < calls; n++) {
    const tools = sessionTools(agent, config)
    const use = new ToolInstance(new ToolChannel(input.call, { live: nobody }))
    use.channel.start(input.call, { live: nobody })
    const text = n % 2 ? '{"city": "Oslo", "days": 3}' : '{"city": "Oslo", "days": "3"}'
    const execution = {
      sessionId: input.sessionId,
      rootId: input.sessionId,
      depth: 0,
      messageId: input.messageId,
      idempotencyKey: 'k',
      timeoutMs: 600_000,
      stop: never,
      config,
      messages: [],
      channel: use.channel,
      values: new CallValues(async () => undefined),
      skills: [],
      listTools: async () => [],
    }
    const call = { ...input.call, arguments: text }
    const end = await runPhases({ call, tools, agent, use, execution, begin })
    if ('asks' in end) throw new Error('nobody is to be asked')
    settlement({ input, claim: { gen: 0 }, chain: '', durationMs: 0, end })
  }
}

const begin = async (): Promise<void> => undefined

const nobody: LiveStep = {
  started: () => undefined,
  text: () => undefined,
  reasoning: () => undefined,
  card: () => undefined,
  update: () => undefined,
  end: () => Promise.resolve(),
}

const agent = createStelloAgent({
  name: 'pipeline',
  llm: { complete: () => Promise.reject(new Error('nobody asks this model')) },
  capabilities: {
    tools: Array.from({ length: TOOLS }, (_, n) =>
      tool(`tool_${n}`, 'Forecasts', z.object({ city: z.string(), days: z.number().int() }), ({ city }) => city),
    ),
  },
})

/** About 4 KB: prose, a fence, and code with braces, quotes and an illegal escape in a string. */
function replyOf(n: number): string {
  const code = 'const find = (s) => s.match(/{(.*?)}/) ?? "nothing"\n'.repeat(60)
  const action = JSON.stringify({ action: 'write_file', path: `src/${n}.ts`, content: code })
  return `I write the file.\n\`\`\`json\n${action.replace('"src/', '"\\src/')}\n\`\`\`\nThen I go on.`
}
