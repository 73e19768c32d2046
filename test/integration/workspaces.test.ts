/**
 * Working folders on hosts: calls run on the host of their folder, hosts come and go, and this makes nothing run twice.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { filesystem, shell, workspaceRoot, workspaces, type WorkspacesOptions } from '../../src/capabilities/index.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { inspectHosts } from '../../src/doctor/inspect-hosts.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import type { StelloWorker } from '../../src/worker.ts'
import { obedient, results } from '../seeds/obedient.ts'
import { eventOf, useStello } from '../support/session-fixture.ts'
import { holdWriters } from '../support/interleaved.ts'
import { until } from '../support/until.ts'

const stello = useStello()
const name = (): string => `hosts-${randomBytes(4).toString('hex')}`

async function newBase(): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'stello-hosts-'))
  onTestFinished(() => rm(base, { recursive: true }))
  return base
}

/** A worker on a host of its own. */
function serveOn({ agent, ...options }: WorkspacesOptions & { agent: string }): Promise<StelloWorker> {
  const sandboxManager = { root: workspaceRoot() }
  const packs = [workspaces(options), filesystem({ sandboxManager }), shell({ sandboxManager, sandbox: 'off' })]
  return stello.work({ name: agent, llm: scriptedModel(obedient), capabilities: { packs } })
}

const write = (content: string) => ({ name: 'Write', arguments: { file_path: 'a.txt', content } })
const read = { name: 'Read', arguments: { file_path: 'a.txt' } }
const fileIn = (base: string, id: string, generation = 1): string => join(base, id, String(generation), 'files/a.txt')

/** The queues on which the calls of a session were scheduled, without the name of the agent. */
async function queuesOf({ id }: SessionHandle, agent: string): Promise<string[]> {
  const { events } = await stello.client.temporal.workflow.getHandle(id).fetchHistory()
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: one }) =>
    one?.activityType?.name === 'callTool' ? [one.taskQueue?.name?.slice(agent.length).trim() ?? ''] : [],
  )
}

it('a call that lands on another host runs on the host that has the folder, also after that host was started again', async () => {
  const agent = name()
  const [here, there] = [await newBase(), await newBase()]
  const first = await serveOn({ agent, base: here, host: 'here' })
  const session = await stello.client.createSession({ agent })
  expect(await results(session, write('one'))).toEqual([expect.stringContaining('has been written')])
  expect(await readFile(fileIn(here, session.id), 'utf8')).toBe('one')
  expect((await eventOf(session, 'workspace.acquired')).data).toEqual({
    workspaceId: session.id,
    host: 'here',
    generation: 1,
    turn: 1,
  })
  await first.stop()

  await serveOn({ agent, base: there, host: 'there' })
  const reading = results(session, read, read)
  await until('the call is sent to its host', async () => (await queuesOf(session, agent)).includes('host here'))
  await serveOn({ agent, base: here, host: 'here' })
  expect(await reading).toEqual([expect.stringContaining('1→one'), expect.stringContaining('1→one')])
  expect(existsSync(join(there, session.id))).toBe(false)
})

it('several calls of a round that are the first in the folder end at the same moment', async () => {
  const agent = name()
  let hold = async (): Promise<unknown> => undefined
  await serveOn({ agent, base: await newBase(), host: 'here', hydrate: () => hold().then(() => undefined) })
  const session = await stello.client.createSession({ agent })
  const held = new Promise<(writers: number) => Promise<void>>((resolve) => {
    hold = () => holdWriters(stello.db, session.id).then(resolve)
  })
  const reading = results(session, read, read, read)
  const letGo = await held
  await letGo(3)
  expect(await reading).toEqual(Array(3).fill(expect.stringContaining('File not found')))
  const { events } = await session.events()
  expect(events.filter(({ type }) => type === 'workspace.acquired')).toHaveLength(1)
})

it('a shell in the background outlives the workers of its host; any other worker there can read and end it', async () => {
  const agent = name()
  const [here, there] = [await newBase(), await newBase()]
  const first = await serveOn({ agent, base: here, host: 'here' })
  const session = await stello.client.createSession({ agent })
  const command = 'echo begun; while [ ! -e end ]; do sleep 0.1; done; echo ended'
  const [started = ''] = await results(session, { name: 'Bash', arguments: { command, run_in_background: true } })
  const task_id = /bash_[0-9a-f]{12}/.exec(started)?.[0]
  await first.stop()

  await serveOn({ agent, base: there, host: 'there' })
  const reading = results(
    session,
    { name: 'Write', arguments: { file_path: 'end', content: '' } },
    { name: 'TaskOutput', arguments: { task_id } },
  )
  await until('the call is sent to its host', async () => (await queuesOf(session, agent)).includes('host here'))
  await serveOn({ agent, base: here, host: 'here' })
  expect(await reading).toEqual([expect.stringContaining('has been written'), expect.stringMatching(/begun[^]*ended/)])
  expect(await results(session, { name: 'KillShell', arguments: { shell_id: task_id } })).toEqual([
    expect.stringContaining(String(task_id)),
  ])
})

it('a folder whose host is gone is lost: the call is not run again, and the next one gets a new folder elsewhere', async () => {
  const agent = name()
  const [gone, base] = [await newBase(), await newBase()]
  const first = await serveOn({ agent, base: gone, host: 'gone', lostAfter: '1s' })
  const session = await stello.client.createSession({ agent })
  await results(session, write('one'))
  await first.stop()

  const filled: number[] = []
  await serveOn({
    agent,
    base,
    host: 'there',
    lostAfter: '1s',
    async hydrate({ root, generation }) {
      filled.push(generation)
      await writeFile(join(root, 'a.txt'), 'from the repository')
    },
  })
  expect(await results(session, read, write('two'))).toEqual([
    expect.stringMatching(/^TOOL_WORKSPACE_LOST: the host of the working folder is gone.*"Read" was not run/),
    expect.stringMatching(/^TOOL_WORKSPACE_LOST: .*"Write" was not run/),
  ])
  expect((await eventOf(session, 'workspace.lost')).data).toEqual({
    workspaceId: session.id,
    host: 'gone',
    generation: 1,
    turn: 2,
  })
  expect(await results(session, read)).toEqual([expect.stringContaining('1→from the repository')])
  expect(await results(session, write('two'))).toEqual([expect.stringContaining('has been written')])
  expect(filled).toEqual([2])
  expect(await readFile(fileIn(base, session.id, 2), 'utf8')).toBe('two')
  expect(await readFile(fileIn(gone, session.id), 'utf8')).toBe('one')
})

it('a session that used the folder before its loss is told once, also if another session found the loss', async () => {
  const agent = name()
  const [gone, base] = [await newBase(), await newBase()]
  const first = await serveOn({ agent, base: gone, host: 'gone', lostAfter: '1s' })
  const session = await stello.client.createSession({ agent })
  const child = await session.fork({ label: 'child' })
  const late = await session.fork({ label: 'late' })
  await results(session, write('one'))
  expect(await results(child, read)).toEqual([expect.stringContaining('1→one')])
  await first.stop()
  await serveOn({ agent, base, host: 'there', lostAfter: '1s' })
  expect(await results(session, read)).toEqual([expect.stringContaining('TOOL_WORKSPACE_LOST')])
  expect(await results(child, read)).toEqual([expect.stringContaining('TOOL_WORKSPACE_LOST')])
  expect(await results(child, read)).toEqual([expect.stringContaining('File not found')])
  expect(await results(late, read)).toEqual([expect.stringContaining('File not found')])
})

it('each session has a folder of its own if the pack says so, and a host takes no more than it has room for', async () => {
  const agent = name()
  const [small, large] = [await newBase(), await newBase()]
  await serveOn({ agent, base: small, host: 'small', per: 'session', capacity: 1 })
  const session = await stello.client.createSession({ agent })
  const child = await session.fork({ label: 'child' })
  await results(session, write('of the root'))
  expect(await results(child, read)).toEqual([expect.stringContaining('no host has room')])
  await serveOn({ agent, base: large, host: 'large', per: 'session', capacity: 1 })
  expect(await results(child, write('of the child'))).toEqual([expect.stringContaining('has been written')])
  expect(await readFile(fileIn(small, session.id), 'utf8')).toBe('of the root')
  expect(await readFile(fileIn(large, child.id), 'utf8')).toBe('of the child')
  expect(await inspectHosts(stello.db, 'default')).toContainEqual({
    name: 'Host small',
    ok: true,
    detail: 'a worker lives; 1 working folder of at most 1',
  })
})
