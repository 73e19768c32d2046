/**
 * Whether sessions use the search attributes is decided when the root of their tree is created. Later requests do not
 * change it.
 */
import type { temporal } from '@temporalio/proto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SessionHandle, StelloClient } from '../../src/client/index.ts'
import { createStelloClient } from '../../src/client/stello-client.ts'
import { createListener, type Listener } from '../../src/store/database/listener.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { onlyChild } from '../support/forks.ts'
import { runsOf } from '../support/runs.ts'
import { ask, eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'

const stello = useStello()
let listener: Listener

beforeAll(() => void (listener = createListener(stello.servers.databaseUrl)))
afterAll(() => listener.close())

/** A client that finds the attributes registered, or does not. */
function clientThat(finds: boolean): StelloClient {
  const { db, client } = stello
  const searchable = (): Promise<boolean> => Promise.resolve(finds)
  return createStelloClient({ db, listener, searchable, client: client.temporal, namespace: 'default' })
}

/** The store has the pause only after the history has what the workflow wrote about it. */
async function pause(session: SessionHandle, from = 0): Promise<void> {
  await session.pause()
  await eventsUntil(session, ({ type }) => type === 'session.paused', { from })
}

/** For each run: what it was told, what it was started with, and what it wrote. */
async function uses(session: SessionHandle): Promise<boolean[][]> {
  return (await runsOf(stello, session)).map(({ input, events }) => [
    input.searchable,
    startedWith(events[0]).includes('StelloRoot'),
    events.some((event) => writtenBy(event).includes('StelloState')),
  ])
}

/** Temporal itself writes which patches a run has. */
function writtenBy({
  upsertWorkflowSearchAttributesEventAttributes: upsert,
}: temporal.api.history.v1.IHistoryEvent): string[] {
  return Object.keys(upsert?.searchAttributes?.indexedFields ?? {})
}

function startedWith(event: temporal.api.history.v1.IHistoryEvent | undefined): string[] {
  const { searchAttributes } = event?.workflowExecutionStartedEventAttributes ?? {}
  return Object.keys(searchAttributes?.indexedFields ?? {})
}

it.each([
  ['does without them', false],
  ['uses them', true],
])(
  'a tree %s for life if its root was created so: forks of both kinds, and sessions that are recovered',
  async (_, chosen) => {
    const fork = { toolCalls: [{ name: 'stello_create_session', arguments: { label: 'by the model' } }] }
    const llm = scriptedModel(
      replyBy([
        ['fork', fork],
        [() => true, 'done'],
      ]),
    )
    const { taskQueue } = await stello.work({ llm })
    const [first, later] = [clientThat(chosen), clientThat(!chosen)]
    const root = await first.createSession({ agent: taskQueue })
    await ask(root, 'fork')
    const byModel = await onlyChild(later, root)
    const byClient = await later.session(root.id).fork({ label: 'by a client' })
    await ask(byClient, 'hello')
    const below = await later.session(byClient.id).fork({ label: 'below' })
    for (const session of [root, byModel, byClient, below]) await pause(session)
    await stello.client.temporal.workflow.getHandle(root.id).terminate('a test')
    expect(await later.session(root.id).recover()).toMatchObject({ restarted: true })
    const { offset } = await eventOf(root, 'session.restarted')
    // It is still paused after the recovery.
    await root.resume()
    await pause(root, offset)
    const same = [chosen, chosen, chosen]
    expect(await uses(root)).toEqual([same, same])
    for (const session of [byModel, byClient, below]) expect(await uses(session)).toEqual([same])
  },
)
