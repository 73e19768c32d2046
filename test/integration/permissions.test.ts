/**
 * Permissions in sessions: modes and rules decide, people are asked durably, and children get no more than their
 * parents.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { filesystem, planning } from '../../src/capabilities/index.ts'
import type { AnswerOptions, DurableEvent, SessionHandle } from '../../src/client/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { obedient, results } from '../seeds/obedient.ts'
import { onlyChild, profiles } from '../support/forks.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'

const stello = useStello()

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stello-permissions-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

interface Call {
  name: string
  arguments: Record<string, unknown>
}
const call = (name: string, given: Record<string, unknown> = {}): Call => ({ name, arguments: given })
const write = (path: string): Call => call('Write', { file_path: path, content: 'x' })
const deploy = (runs: { count: number }) =>
  tool('deploy', 'd', z.object({}), () => `deployed ${++runs.count}`, { kind: 'execute' })

/** Sends calls, answers the first question, and returns what the model reads. */
async function answered(session: SessionHandle, decision: 'approve' | 'deny', ...calls: Call[]): Promise<string[]> {
  const turn = await session.send(JSON.stringify(calls))
  for (let item = (await session.pending())[0]; ; item = (await session.pending())[0]) {
    if (item) {
      await session.answer(item.id, { decision })
      break
    }
    await eventsUntil(session, ({ type }) => type === 'pending.opened')
  }
  await turn.result()
  return (await session.transcript()).filter(({ role }) => role === 'tool').map(({ content }) => content)
}

async function decisions(session: SessionHandle): Promise<DurableEvent['data'][]> {
  const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
  return events.flatMap(({ type, data }) => (type === 'permission.decided' ? [data] : []))
}

it('without permissions nothing is asked; in mode default, a person permits what writes', async () => {
  const root = await newFolder()
  const packs = [filesystem({ sandboxManager: { root } })]
  const open = await stello.session({ llm: scriptedModel(obedient), capabilities: { packs } })
  expect(await results(open, write('a.txt'))).toEqual([expect.stringContaining('has been written')])
  expect(await decisions(open)).toEqual([])

  const session = await stello.session({ llm: scriptedModel(obedient), permissions: {}, capabilities: { packs } })
  expect(await answered(session, 'approve', write('b.txt'))).toEqual([expect.stringContaining('has been written')])
  expect(await readFile(join(root, 'b.txt'), 'utf8')).toBe('x')
  expect(await decisions(session)).toMatchObject([
    { decision: 'ask', by: 'mode', mode: 'default', touches: ['write b.txt'] },
    { decision: 'allow', by: 'person', touches: ['write b.txt'] },
  ])
  expect(await results(session, call('Read', { file_path: 'a.txt' }))).toEqual([expect.stringContaining('1→x')])
})

it('a denied call does not run, and a mode of the session switches the permissions on', async () => {
  const runs = { count: 0 }
  const { taskQueue: agent } = await stello.work({
    llm: scriptedModel(obedient),
    capabilities: { tools: [deploy(runs)] },
  })
  const asks = await stello.client.createSession({ agent, permissionMode: 'default' })
  expect(await answered(asks, 'deny', call('deploy'))).toEqual([
    'TOOL_PERMISSION_DENIED: a person did not permit "deploy"',
  ])
  const plans = await stello.client.createSession({ agent, permissionMode: 'plan' })
  expect(await results(plans, call('deploy'))).toEqual([expect.stringContaining('in plan mode')])
  const alone = await stello.client.createSession({ agent, permissionMode: 'dontAsk' })
  expect(await results(alone, call('deploy'))).toEqual([expect.stringContaining('no person is asked here')])
  expect(runs.count).toBe(0)
  const all = await stello.client.createSession({ agent, permissionMode: 'yolo' })
  expect(await results(all, call('deploy'))).toEqual(['deployed 1'])
})

it('a denied path is neither read nor found, and a denied tool is not offered', async () => {
  const root = await newFolder()
  await writeFile(join(root, 'secret.txt'), 's')
  await writeFile(join(root, 'open.txt'), 'o')
  const session = await stello.session({
    llm: scriptedModel(obedient),
    permissions: { mode: 'yolo', deny: ['Read(secret.*)', 'Edit'] },
    capabilities: { packs: [filesystem({ sandboxManager: { root } })] },
  })
  const given = { file_path: 'secret.txt', old_string: 's', new_string: 't' }
  expect(
    await results(
      session,
      call('Read', { file_path: 'secret.txt' }),
      call('Glob', { pattern: '*' }),
      call('Edit', given),
    ),
  ).toEqual([
    'TOOL_PERMISSION_DENIED: "Read" (read secret.txt) is denied by the rule Read(secret.*)',
    'open.txt',
    expect.stringContaining('TOOL_NOT_FOUND'),
  ])
})

describe('a child', () => {
  const rules = { allow: ['deploy'], deny: ['wipe'] }

  it('gets the mode and the rules of its parent, and may not add to what is allowed', async () => {
    const runs = { count: 0 }
    const wipe = tool('wipe', 'd', z.object({}), () => 'wiped', { kind: 'execute' })
    const look = tool('look', 'd', z.object({}), () => 'looked', { kind: 'execute' })
    const session = await stello.session({
      llm: scriptedModel(obedient),
      permissions: { mode: 'dontAsk', ...rules },
      capabilities: {
        tools: [deploy(runs), wipe, look],
        profiles: profiles({ wide: { permissionMode: 'yolo', permissions: { allow: ['look', 'deploy'] } } }),
      },
    })
    await ask(session, JSON.stringify([call('stello_create_session', { label: 'c', profile: 'wide' })]))
    const child = await onlyChild(stello.client, session)
    expect(await results(child, call('deploy'), call('look'), call('wipe'))).toEqual([
      'deployed 1',
      expect.stringContaining('no person is asked here'),
      expect.stringContaining('TOOL_NOT_FOUND'),
    ])
  })

  it('is opened only after a person has permitted it, if a rule asks', async () => {
    const session = await stello.session({
      llm: scriptedModel(obedient),
      systemTools: true,
      permissions: { ask: ['stello_create_session', 'new_task'] },
    })
    const [opened] = await answered(session, 'approve', call('stello_create_session', { label: 'c' }))
    expect(opened).toContain('sessionId')
    const task = call('new_task', { label: 't', message: 'hello' })
    expect((await answered(session, 'deny', task)).at(-1)).toContain('TOOL_PERMISSION_DENIED')
    expect((await answered(session, 'approve', task)).at(-1)).toBe('done')
    expect((await session.tree()).children).toHaveLength(2)
  })
})

it('an invalid mode or rule is refused where it is stated', async () => {
  const { taskQueue: agent } = await stello.work({ llm: scriptedModel(obedient) })
  await expect(stello.client.createSession({ agent, permissionMode: 'plann' })).rejects.toThrow(
    'permissionMode: must be one of plan, dontAsk, default',
  )
})

it('a session that plans changes nothing, and its children change nothing, until a person has approved the plan', async () => {
  const runs = { count: 0 }
  const { taskQueue: agent } = await stello.work({
    llm: scriptedModel(obedient),
    capabilities: { tools: [deploy(runs)], packs: [planning()] },
  })
  const session = await stello.client.createSession({ agent })
  const last = async (): Promise<string | undefined> =>
    (await session.transcript()).findLast(({ role }) => role === 'tool')?.content
  const asking = async (call: Call, answer: AnswerOptions): Promise<void> => {
    const turn = await session.send(JSON.stringify([call]))
    let [item] = await session.pending()
    for (; !item; [item] = await session.pending()) await eventsUntil(session, ({ type }) => type === 'pending.opened')
    await session.answer(item.id, answer)
    await turn.result()
  }
  await asking(call('EnterPlanMode'), { decision: 'answer', text: 'Yes' })
  expect(await results(session, call('deploy'))).toEqual([expect.stringContaining('in plan mode')])
  await ask(session, JSON.stringify([call('stello_create_session', { label: 'c' })]))
  const child = await onlyChild(stello.client, session)
  expect(await results(child, call('deploy'))).toEqual([expect.stringContaining('in plan mode')])
  await asking(call('ExitPlanMode', { plan: 'deploy' }), { decision: 'answer', values: { approved: true } })
  expect(await last()).toContain('The plan is approved')
  expect(await results(session, call('deploy'))).toEqual(['deployed 1'])
  expect(await results(child, call('deploy'))).toEqual([expect.stringContaining('in plan mode')])
})

it('what a person permits for good runs again without a question, releases the calls that wait for it, and can be taken back', async () => {
  const runs = { count: 0 }
  const { taskQueue: agent } = await stello.work({
    llm: scriptedModel(obedient),
    permissions: {},
    capabilities: { tools: [deploy(runs)] },
  })
  const session = await stello.client.createSession({ agent })
  const turn = await session.send(JSON.stringify([call('deploy'), call('deploy')]))
  let waiting = await session.pending()
  for (; waiting.length < 2; waiting = await session.pending())
    await eventsUntil(session, ({ type }) => type === 'pending.opened')
  await session.answer(waiting[1]?.id ?? '', { decision: 'approve', remember: 'session' })
  await turn.result()
  expect(runs.count).toBe(2)
  expect(await results(session, call('deploy'))).toEqual(['deployed 3'])

  const [kept, ...others] = await stello.client.permissions()
  expect([kept, others]).toMatchObject([
    { scope: 'session', owner: session.id, rule: 'deploy', sessionId: session.id },
    [],
  ])
  const other = await stello.client.createSession({ agent, permissionMode: 'dontAsk' })
  expect(await results(other, call('deploy'))).toEqual([expect.stringContaining('no person is asked here')])
  if (kept) await stello.client.removePermission(kept)
  expect(await stello.client.permissions()).toEqual([])
  expect(await answered(session, 'deny', call('deploy'))).toHaveLength(4)
  expect(runs.count).toBe(3)
  await expect(stello.client.removePermission({ scope: 'agent', owner: agent, rule: 'deploy' })).rejects.toThrow(
    'there is no rule deploy of agent',
  )
})
