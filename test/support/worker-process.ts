/**
 * A worker in a process of its own, for tests that kill it. Its model is the fake provider of the test. Its user code
 * *knocks at the doors* of the test before it returns: it sends a request to the test. So the test knows what has begun
 * and decides when it ends.
 */
import { existsSync } from 'node:fs'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { z } from 'zod'
import { createStelloAgent, type AgentDefinition } from '../../src/agent/agent.ts'
import { ForkProfileRegistryImpl } from '../../src/agent/profile.ts'
import type { Skill } from '../../src/core/skill.ts'
import type { Model } from '../../src/core/model.ts'
import { RetryableError } from '../../src/core/retryable-error.ts'
import { type ToolExtras, type Verification } from '../../src/tool/tool.ts'
import { tool } from '../../src/tool/tool-function.ts'
import {
  agents,
  filesystem,
  mcp,
  shell,
  skills,
  workspaceRoot,
  workspaces,
  type McpOptions,
  type WorkspacesOptions,
} from '../../src/capabilities/index.ts'
import { fallback } from '../../src/models/fallback.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { startWorker, type Concurrency } from '../../src/worker.ts'

export interface WorkerSettings {
  agent: string
  temporalAddress: string
  databaseUrl: string
  modelUrl: string
  /** The API that its model speaks. Default: chat completions. */
  api?: 'responses'
  /** A second provider, which is asked when the first is away. */
  standInUrl?: string
  gateUrl: string
  /** How long running steps may go on after SIGTERM. Default 10 s. */
  shutdownGraceMs?: number
  concurrency?: Concurrency
  metricsPort?: number
  stallLimitMs?: number
  autoResume?: NonNullable<AgentDefinition['autoResume']>
  compaction?: NonNullable<AgentDefinition['compaction']>
  /** The agent has the tools for child agents. */
  agents?: true
  /** The agent asks about what writes or executes, and has a skill that allows a call. */
  skills?: true
  /** The folder for which the agent has file tools. */
  folder?: string
  /** The agent has a shell in the folder, and enough rounds for a job. */
  shell?: boolean
  /** The agent has file tools for working folders on a host. */
  workspaces?: WorkspacesOptions
  /** The agent has permissions. */
  permissions?: NonNullable<AgentDefinition['permissions']>
  /** The agent has the tools of these servers. */
  mcp?: McpOptions['servers']
}

const settings = JSON.parse(process.argv[2] ?? '') as WorkerSettings

async function knock(name: string, given: { key?: string; tag?: string }): Promise<string> {
  const query = new URLSearchParams({ pid: String(process.pid), ...given })
  return (await fetch(`${settings.gateUrl}/${name}?${query.toString()}`)).text()
}

function knocking(name: string, extras: ToolExtras): ReturnType<typeof tool> {
  return tool(
    name,
    `Knocks as ${name}`,
    z.object({ tag: z.string().default('') }),
    ({ tag }, { idempotencyKey }) => knock(name, { key: idempotencyKey, tag }),
    extras,
  )
}

/** The test may say that the call could not begin. */
const charge = tool('charge', 'Charges an account', z.object({}), async (_args, { idempotencyKey }) => {
  const answer = await knock('charge', { key: idempotencyKey })
  if (answer === 'busy') throw new RetryableError('the bank is busy', { retryAfter: '2s' })
  return answer
})

/** Asks a person, and then knocks with the answer. */
const asking = (name: string, extras: ToolExtras): ReturnType<typeof tool> =>
  tool(
    name,
    `Asks, then knocks as ${name}`,
    z.object({}),
    async (_args, ctx) => {
      const { text } = await ctx.ask({ message: 'which?', options: [{ label: 'left' }, { label: 'right' }] })
      return knock(name, { key: ctx.idempotencyKey, tag: text })
    },
    extras,
  )

/** Asks a person, waits for a limited time, and then knocks with the answer. */
const survey = tool('survey', 'Asks for a while', z.object({ ms: z.number() }), async ({ ms }, ctx) => {
  const { text, expired } = await ctx.ask({ message: 'which?', expiresIn: ms, default: { text: 'right' } })
  return knock('survey', { key: ctx.idempotencyKey, tag: `${text}${expired ? ' by default' : ''}` })
})

/** Waits for a yes, as long as its agent allows, and knocks only after it. */
const wipe = tool(
  'wipe',
  'Wipes after a yes',
  z.object({}),
  async (_args, ctx) =>
    (await ctx.confirmationHandler?.('really?')) ? knock('wipe', { key: ctx.idempotencyKey }) : 'not wiped',
  { kind: 'readonly', effect: 'non_idempotent' },
)

/** The test gives the result of `verify`, as JSON. Text that is no JSON makes it throw. */
async function verify(): Promise<Verification> {
  return JSON.parse(await knock('verify', {})) as Verification
}

/** Blocks the whole process until the file is there. */
const block = tool(
  'block',
  'Lets nothing else run',
  z.object({ file: z.string() }),
  async ({ file }, { idempotencyKey }) => {
    const answer = await knock('block', { key: idempotencyKey })
    while (!existsSync(file));
    return answer
  },
)

/** Blocks everything in this process until the file is there. */
function stall({ file }: { file: string }): undefined {
  while (!existsSync(file));
}

const stalling = (name: string, extras: ToolExtras): ReturnType<typeof tool> =>
  tool(
    name,
    'Lets nothing else run, at once',
    z.object({ file: z.string() }),
    (args) => stall(args) ?? 'went on',
    extras,
  )

const thinking = { api: 'responses', reasoning: { summary: 'auto' } } as const
const provider = openai({ model: 'fake', baseURL: settings.modelUrl, ...(settings.api && thinking) })
/** Blocks the whole process when it is asked to. */
const llm: Model = {
  ...provider,
  complete(messages, options) {
    const [, file] = /^choke #(.*)/.exec(messages.at(-1)?.content ?? '') ?? []
    if (file !== undefined) stall({ file })
    return provider.complete(messages, options)
  },
}

const BOOKING: Skill = { name: 'booking', description: 'd', content: 'c', permissions: { allow: ['book'] } }

const { standInUrl, folder: root } = settings
const sandboxManager = root === undefined ? undefined : { root }
const folderTools = sandboxManager
  ? [...filesystem({ sandboxManager }).tools, ...(settings.shell ? shell({ sandboxManager }).tools : [])]
  : []
const packs = [
  ...(settings.workspaces
    ? [workspaces(settings.workspaces), filesystem({ sandboxManager: { root: workspaceRoot() } })]
    : []),
  ...(settings.mcp ? [mcp({ servers: settings.mcp })] : []),
]
const agent = createStelloAgent({
  name: settings.agent,
  llm:
    standInUrl === undefined
      ? llm
      : fallback([llm, openai({ model: 'stand-in', baseURL: standInUrl })], { after: '1s' }),
  systemTools: true,
  maxToolRounds: settings.shell ? 20 : 3,
  ...(settings.autoResume !== undefined && { autoResume: settings.autoResume }),
  ...(settings.compaction !== undefined && { compaction: settings.compaction }),
  ...(settings.skills && { permissions: { allow: ['Skill'] } }),
  ...(settings.permissions !== undefined && { permissions: settings.permissions }),
  capabilities: {
    ...(settings.skills && { skills: { list: () => [BOOKING] } }),
    tools: [
      knocking('look', { readOnlyHint: true }),
      knocking('book', { idempotentHint: true }),
      knocking('pay', {}),
      // Does not look at its signal.
      knocking('hang', { readOnlyHint: true, timeout: 300 }),
      knocking('wire', { onUnknownOutcome: 'ask' }),
      knocking('build', { runsIn: 'workspace' }),
      knocking('post', { verify }),
      asking('poll', { idempotentHint: true }),
      asking('elect', {}),
      survey,
      wipe,
      charge,
      block,
      stalling('scan', { readOnlyHint: true }),
      stalling('seal', { verify: (args) => stall(args as { file: string }) }),
      ...(settings.skills ? skills().tools : []),
      ...(settings.agents ? agents().tools : []),
      ...folderTools,
    ],
    packs,
    profiles: new ForkProfileRegistryImpl()
      .register('compressed', {
        async contextFn() {
          const first = await provider.complete([{ role: 'user', content: 'first question' }])
          const second = await provider.complete([{ role: 'user', content: 'second question' }])
          return [{ role: 'assistant', content: `${first.content}; ${second.content}` }]
        },
      })
      .register('told', {
        async contextFn(records) {
          await knock('context', { tag: records.at(-1)?.content ?? '' })
          return records
        },
      }),
  },
  onSessionFork: async ({ parentId }) => void (await knock('hook', { key: parentId })),
})
// Attempts that fail are part of the tests. A worker that serves metrics installs the runtime itself.
if (settings.metricsPort === undefined) Runtime.install({ logger: new DefaultLogger('ERROR') })
const worker = await startWorker({ ...settings, agent, log: { info: () => undefined, warn: () => undefined } })
process.once('SIGTERM', () => {
  void worker.stop()
  process.send?.('stopping')
})
process.send?.('ready')
await worker.stopped
// A tool that was given up may still wait for its answer.
process.exit()
