/**
 * A worker whose author brings more than an agent: a data converter that encrypts, interceptors, own workflows and
 * activities. Or a Temporal Worker to which Stello is added as a plugin.
 */
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { DataConverter } from '@temporalio/common'
import { NativeConnection, Worker, type WorkerInterceptors } from '@temporalio/worker'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createStelloAgent, type StelloAgent } from '../../src/agent/agent.ts'
import { connectStello, type StelloClient } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { bundleStelloWorkflows, stelloPlugin } from '../../src/worker.ts'
import { aesCodec } from '../support/aes-codec.ts'
import { onlyChild } from '../support/forks.ts'
import { ask, quietRuntime, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const workflowsPath = fileURLToPath(new URL('../support/own-workflows.ts', import.meta.url))
const activities = { greet: async (name: string): Promise<string> => `Hello, ${name}.` }
const dataConverter: DataConverter = { payloadCodecs: [aesCodec(randomBytes(32))] }

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Its words are secrets. Nobody may read them in Temporal. */
function confidant(): StelloAgent {
  const rules = replyBy([
    ['read the plum', { toolCalls: [{ name: 'read_plum', arguments: { page: 'quince' } }] }],
    [
      { tool: 'read_plum' },
      { toolCalls: [{ name: 'new_task', arguments: { label: 'child', message: 'weigh the medlar' } }] },
    ],
    ['weigh the medlar', 'the medlar is light'],
    [{ tool: 'new_task' }, 'sorbus'],
    [() => true, 'damson'],
  ])
  return createStelloAgent({
    name: `test-${randomBytes(4).toString('hex')}`,
    llm: scriptedModel(rules),
    systemTools: true,
    capabilities: {
      tools: [
        tool('read_plum', 'Reads', z.object({ page: z.string() }), async () => 'bullace', { readOnlyHint: true }),
      ],
    },
  })
}
const SECRETS = ['plum', 'quince', 'medlar', 'bullace', 'sorbus', 'damson', 'greengage']

/** All text in what Temporal holds, payloads included, without the fields named in `but`. */
function textOf(value: unknown, but?: string): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (typeof value !== 'object' || value === null) return String(value)
  const shown = Object.entries(value).filter(([key]) => key !== but)
  return shown.map(([key, each]) => `${key}: ${textOf(each, but)}`).join('\n')
}

/** What Temporal shows of a session to a reader without the key. */
async function heldOf({ temporal }: StelloClient, workflowId: string): Promise<unknown> {
  const { namespace } = temporal.options
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory()
  return [events, await temporal.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } })]
}

async function connect(converter?: DataConverter): Promise<StelloClient> {
  const client = await connectStello({ ...stello.servers, ...(converter && { dataConverter: converter }) })
  closing.push(() => client.close())
  return client
}

describe('payloads that are encrypted', () => {
  const seen = new Set<string>()
  const interceptors: WorkerInterceptors = {
    activity: [
      ({ info }) => ({
        inbound: { execute: (input, next) => (seen.add(`${info.activityType} of ${info.taskQueue}`), next(input)) },
      }),
    ],
  }

  it('let a turn with a tool and a child run, and only search attributes can be read in Temporal', async () => {
    const agent = confidant()
    await stello.serve(agent, { dataConverter, interceptors, activities, workflowsPath })
    const client = await connect(dataConverter)
    const session = await client.createSession({ agent: agent.name, label: 'greengage' })
    expect(await ask(session, 'read the plum')).toBe('sorbus')
    const child = await onlyChild(client, session)
    for (const { id } of [session, child]) {
      const held = await heldOf(client, id)
      // The ids of sessions are made of words of their labels, and labels are search attributes.
      const hidden = textOf(held, 'searchAttributes').replaceAll(session.id, '').replaceAll(child.id, '')
      expect(hidden).toContain('callModel')
      expect(SECRETS.filter((secret) => hidden.includes(secret))).toEqual([])
      // The label is one of them.
      expect(textOf(held)).toContain(id === session.id ? 'greengage' : 'child')
    }
    const queue = agent.name
    expect([...seen]).toEqual(
      expect.arrayContaining([`callModel of ${queue}`, `openChild of ${queue} tools`, `announce of ${queue} control`]),
    )
    const greeted = await client.temporal.workflow.execute('greeting', {
      taskQueue: queue,
      workflowId: `greeting-${queue}`,
      args: ['Ada'],
    })
    expect(greeted).toBe('Hello, Ada.')
    expect(seen).toContain(`greet of ${queue}`)
  })

  it('are read by a recovery; a client without the key is told that it needs it', async () => {
    const agent = confidant()
    const worker = await stello.serve(agent, { dataConverter })
    const client = await connect(dataConverter)
    const session = await client.createSession({ agent: agent.name, label: 'main' })
    expect(await ask(session, 'hello')).toBe('damson')
    await worker.stop()
    const turn = await session.send('what waits')
    await client.temporal.workflow.getHandle(session.id).terminate('a test')
    const strangers = await connect()
    await expect(strangers.session(session.id).recover()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      hint: 'connect with the dataConverter that its workers have',
    })
    expect(await session.recover()).toEqual({ restarted: true, waiting: 1 })
    await stello.serve(agent, { dataConverter })
    expect((await turn.result()).text).toBe('damson')
  })
})

describe("a Temporal Worker of one's own", () => {
  it('serves sessions beside its own workflows and activities, and closes everything when it stops', async () => {
    quietRuntime()
    const agent = confidant()
    const { databaseUrl, temporalAddress: address, namespace = 'default' } = stello.servers
    const connection = await NativeConnection.connect({ address })
    closing.push(() => connection.close())
    const plugin = stelloPlugin({ agent, databaseUrl })
    const options = { connection, namespace, dataConverter, activities, taskQueue: agent.name }
    const worker = await Worker.create({ ...options, workflowsPath, plugins: [plugin] })
    expect((await plugin.readiness()).problems).toEqual(['it is starting'])
    const client = await connect(dataConverter)
    await worker.runUntil(async () => {
      const session = await client.createSession({ agent: agent.name, label: 'main' })
      expect(await ask(session, 'read the plum')).toBe('sorbus')
      const workflow = { taskQueue: agent.name, workflowId: `greeting-${agent.name}`, args: ['Ada'] }
      expect(await client.temporal.workflow.execute('greeting', workflow)).toBe('Hello, Ada.')
      expect(await client.servedAgents()).toContain(agent.name)
      await expect.poll(async () => (await plugin.readiness()).problems, { timeout: 20_000 }).toEqual([])
    })
    expect(await client.servedAgents()).not.toContain(agent.name)
  })

  it('is refused where it cannot serve the agent, with nothing left open', async () => {
    quietRuntime()
    const agent = confidant()
    const { databaseUrl, temporalAddress: address } = stello.servers
    const connection = await NativeConnection.connect({ address })
    closing.push(() => connection.close())
    const create = (more: object): Promise<Worker> =>
      Worker.create({ connection, taskQueue: agent.name, plugins: [stelloPlugin({ agent, databaseUrl })], ...more })
    await expect(create({ taskQueue: 'billing' })).rejects.toThrow(`the task queue of its agent, "${agent.name}"`)
    await expect(create({ activities: { callModel: async () => 1 } })).rejects.toThrow('is named "callModel"')
    const nowhere = stelloPlugin({ agent, databaseUrl: 'postgresql://127.0.0.1:1/none' })
    await expect(create({ plugins: [nowhere] })).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  })

  it('runs a bundle that was made before', async () => {
    const agent = confidant()
    const workflowBundle = await bundleStelloWorkflows({ workflowsPath })
    await stello.serve(agent, { workflowBundle, activities })
    const client = await connect()
    const workflow = { taskQueue: agent.name, workflowId: `greeting-${agent.name}`, args: ['Ada'] }
    expect(await client.temporal.workflow.execute('greeting', workflow)).toBe('Hello, Ada.')
    const session = await client.createSession({ agent: agent.name, label: 'main' })
    expect(await ask(session, 'hello')).toBe('damson')
  })
})
