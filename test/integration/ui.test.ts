/** What a person finds in the Temporal UI. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { readIdentity } from '../../src/store/database/identity.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { onlyChild, profiles, taskAt } from '../support/forks.ts'
import { createGate } from '../support/gate.ts'
import { ask, eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'
import { until } from '../support/until.ts'

const stello = useStello()
const workflow = (session: SessionHandle) => stello.client.temporal.workflow.getHandle(session.id)

async function attributesOf(session: SessionHandle): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await workflow(session).describe()
  return Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]))
}

async function detailsOf(session: SessionHandle): Promise<string> {
  const { currentDetails } = await workflow(session).query<{ currentDetails: string }>('__temporal_workflow_metadata')
  return currentDetails
}

async function summariesOf(session: SessionHandle): Promise<string[]> {
  const { events } = await workflow(session).fetchHistory()
  return (events ?? []).flatMap(({ userMetadata }) => {
    const data = userMetadata?.summary?.data
    return data ? [JSON.parse(Buffer.from(data).toString()) as string] : []
  })
}

it('takes long labels in any script: Temporal gets as much as it takes', async () => {
  const label = '東'.repeat(20_000)
  const llm = scriptedModel(
    replyBy([
      [
        'go',
        { toolCalls: Array.from({ length: 3 }, () => ({ name: 'new_task', arguments: { label, message: 'task' } })) },
      ],
      ['task', 'answer'],
      [{ tool: 'new_task' }, 'done'],
    ]),
  )
  const { taskQueue } = await stello.work({ llm, systemTools: true })
  const session = await stello.client.createSession({ agent: taskQueue, label: label.slice(0, 200) })
  expect(await ask(session, 'go')).toBe('done')
  const { label: own, children } = await session.tree()
  expect([own, ...children.map((child) => child.label)].map((each) => each.length)).toEqual([200, 200, 200, 200])
  for (const { id } of [session, ...children]) {
    const description = await workflow(stello.client.session(id)).describe()
    expect(await description.staticSummary()).toMatch(/^東{39}…$/)
    expect(String(description.memo?.['title'])).toHaveLength(200)
  }
})

it('names a session by its label, and shows in Markdown what it does and where its forks are', async () => {
  const fork = { name: 'stello_create_session', arguments: { label: 'a [part]', profile: 'p' } }
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [fork] }],
      [() => true, 'The answer.'],
    ]),
  )
  const { taskQueue } = await stello.work({ llm, capabilities: { profiles: profiles({ p: {} }) } })
  const session = await stello.client.createSession({ agent: taskQueue, label: 'tea' })
  await ask(session, 'go')
  await viewOf(stello.client, session)
  const child = stello.client.session((await session.tree()).children[0]?.id ?? '')
  await ask(child, 'hello')
  await viewOf(stello.client, child)

  const description = await workflow(session).describe()
  expect(await description.staticSummary()).toBe('tea')
  expect(description.memo).toEqual({ title: 'tea', agent: taskQueue, store: await readIdentity(stello.db) })
  expect(await attributesOf(session)).toMatchObject({
    StelloRoot: session.id,
    StelloLabel: 'tea',
    StelloState: 'idle',
  })
  const details = await detailsOf(session)
  expect(details).toMatch(/^# \S+ tea · idle$/m)
  expect(details).toContain('> The answer.')
  expect(details).toContain(`- [a part](/namespaces/{namespace}/workflows/${child.id})`)
  expect(details).toContain(`/namespaces/{namespace}/workflows?query=StelloParent%3D%22${session.id}%22`)
  expect(details).toContain('**Request Cancellation** stops the turn')
  expect(details).not.toMatch(/^\|/m)

  const ofChild = await workflow(child).describe()
  expect(await ofChild.staticSummary()).toBe('a [part]')
  expect(ofChild.memo).toEqual({ ...description.memo, title: 'a [part]', profile: 'p', parent: session.id })
  expect(await attributesOf(child)).toMatchObject({
    StelloRoot: session.id,
    StelloParent: session.id,
    StelloProfile: 'p',
    StelloLabel: 'a [part]',
  })
  expect(await detailsOf(child)).toContain(`(/namespaces/{namespace}/workflows/${session.id})`)
})

it('shows in the history what each activity does', async () => {
  const look = tool('look', 'Looks', z.object({ at: z.string() }), () => 'seen')
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'look', arguments: { at: 'the sky' } }] }],
      [() => true, 'done'],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [look] } })
  await ask(session, 'go')
  expect(await summariesOf(session)).toEqual([
    'main',
    'open session',
    'scripted · turn 1, round 1',
    'look {"at":"the sky"}',
    'scripted · turn 1, round 2',
  ])
})

it('names a tool by its name for people in every place', async () => {
  const gate = createGate()
  const work = async (): Promise<string> => {
    await gate.pass()
    return 'seen'
  }
  const look = tool('look', 'Looks', z.object({}), work, { title: 'Look [around]' })
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'look' }] }],
      [() => true, 'done'],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [look] } })
  const turn = await session.send('go')
  await gate.reached()
  const title = 'Look [around]'
  const view = await viewOf(stello.client, session, (seen) => seen.turn?.calls[0]?.status === 'running')
  expect(view.turn?.calls).toMatchObject([{ name: 'look', title }])
  expect(await detailsOf(session)).toContain('- Look around `look`: running')
  expect((await session.state()).inHand).toMatchObject([{ kind: 'tool', name: 'look', title }])
  const live = await eventsUntil(session, ({ type }) => type === 'tool.status', { live: true })
  expect(live.at(-1)?.data).toMatchObject({ name: 'look', title })
  gate.open()
  await turn.result()
  const told = await eventsUntil(session, ({ type }) => type === 'turn.completed')
  const dataOf = (type: string): unknown => told.find((event) => event.type === type)?.data
  expect(dataOf('message.completed')).toMatchObject({ calls: [{ name: 'look', title }] })
  expect(dataOf('tool.status')).toMatchObject({ status: 'SUCCESS', name: 'look', title })
  expect(await summariesOf(session)).toContain('Look [around] {}')
})

it('keeps the state that people search for: running, waiting, paused, idle, closed', async () => {
  const gate = createGate()
  const llm = scriptedModel(replyBy([...taskAt(gate), [() => true, 'done']]))
  const session = await stello.session({ llm, systemTools: true })
  const turn = await session.send('go')
  await gate.reached()
  await viewOf(stello.client, session, ({ status }) => status === 'waiting')
  expect((await attributesOf(session))['StelloState']).toBe('waiting')
  const details = await detailsOf(session)
  expect(details).toMatch(/^# \S+ main · waiting for a fork$/m)
  expect(details).toContain('): its answer is waited for')
  expect(details).toMatch(/waited for\n\nHow they are: /)
  const child = await onlyChild(stello.client, session)
  expect((await attributesOf(child))['StelloState']).toBe('running')
  gate.open()
  await turn.result()
  await session.pause('lunch')
  await viewOf(stello.client, session, ({ status }) => status === 'paused')
  expect((await attributesOf(session))['StelloState']).toBe('paused')
  expect(await detailsOf(session)).toContain('**Paused (user):** lunch')
  await session.resume()
  await viewOf(stello.client, session, ({ status }) => status === 'idle')
  expect((await attributesOf(session))['StelloState']).toBe('idle')
  await session.close()
  await workflow(session).result()
  await eventOf(session, 'session.closed')
  expect((await attributesOf(session))['StelloState']).toBe('closed')
})

it('tells people what they can send', async () => {
  const session = await stello.session({ llm: scriptedModel([]) })
  const { definition } = await workflow(session).query<{
    definition: Record<
      'signalDefinitions' | 'updateDefinitions' | 'queryDefinitions',
      { name: string; description: string }[]
    >
  }>('__temporal_workflow_metadata')
  const named = (['signalDefinitions', 'updateDefinitions', 'queryDefinitions'] as const).flatMap((kind) =>
    definition[kind]
      .filter(({ name }) => !name.startsWith('__'))
      .map(({ name, description }) => ({ name, description })),
  )
  for (const name of [
    'message',
    'pause',
    'resume',
    'cancelTurn',
    'compact',
    'close',
    'answer',
    'state',
    'stats',
    'pending',
  ]) {
    expect(named.find((one) => one.name === name)?.description).toMatch(/\S/)
  }
})

it('accepts every query that docs/temporal-ui.md shows, and each workflow it finds has a state', async () => {
  const session = await stello.session({ llm: scriptedModel([]) })
  await viewOf(stello.client, session)
  const page = readFileSync(new URL('../../docs/temporal-ui.md', import.meta.url), 'utf8')
  const queries = [...page.matchAll(/^\| [\w ]+ \| `(.+=.+|.+ IS .+)` \|$/gm)].map(([, query = '']) => query)
  expect(queries.length).toBeGreaterThanOrEqual(6)
  const { workflow: workflows } = stello.client.temporal
  for (const query of queries) await workflows.list({ query, pageSize: 1 })[Symbol.asyncIterator]().next()
  const mine = `StelloRoot = "${session.id}" AND StelloParent IS NULL AND StelloState = "idle"`
  await until('the session is listed', async () => {
    for await (const { workflowId } of workflows.list({ query: mine })) return workflowId === session.id
    return false
  })
})
