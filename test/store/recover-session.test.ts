/** What a session is started again with. No message of the lost run may depend on the life of the next run. */
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common'
import { expect, it } from 'vitest'
import { recoverSession, type Recovered } from '../../src/client/recover-session.ts'
import type { ClientDeps } from '../../src/client/client-deps.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { TASK_MESSAGE } from '../../src/store/sessions/tree.ts'
import { openingKey } from '../../src/protocol/keys.ts'
import type { SessionInput } from '../../src/protocol/session-input.ts'
import { readIdentity } from '../../src/store/database/identity.ts'
import { NAMESPACE, claim, newSessionRow, openSession, opening, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

interface Where {
  /** The namespace of the client. Default: that of all sessions here. */
  namespace?: string
  /** What the memo of the workflow says. */
  store?: string
}

/** Recovers from a history with these messages. */
async function recovered(
  sessionId: string,
  sent: string[],
  { namespace = NAMESPACE, store }: Where = {},
): Promise<Recovered & { begunWith: string[] }> {
  let begunWith: string[] = []
  const events = sent.map((messageId) => {
    const payloads = [defaultPayloadConverter.toPayload({ messageId, text: `message ${messageId}` })]
    return { workflowExecutionSignaledEventAttributes: { signalName: 'message', input: { payloads } } }
  })
  const memo = store === undefined ? {} : { store }
  const lost = {
    describe: async () => ({ status: { name: 'TERMINATED' }, memo }),
    fetchHistory: async () => ({ events }),
  }
  const start = async (_type: string, { args: [input] }: { args: [SessionInput] }): Promise<void> => {
    begunWith = input.session.messages ?? []
  }
  const client = { workflow: { getHandle: () => lost, start }, options: { loadedDataConverter: defaultDataConverter } }
  const deps = { client, db: at.db, searchable: async () => false, namespace } as unknown as ClientDeps
  return { ...(await recoverSession(deps, sessionId, { restart: true })), begunWith }
}

it('passes on any number of messages with the start itself: if the next run dies after that, none is lost', async () => {
  const { sessionId } = await openSession(at.db)
  const sent = Array.from({ length: 1000 }, (_, i) => `m-${i}`)
  expect(await recovered(sessionId, sent)).toEqual({ restarted: true, waiting: 1000, begunWith: sent })
})

it('passes on the message of the turn under way, too: the next run may be lost before it takes the turn up', async () => {
  const run = await openSession(at.db)
  await claim(at.db, run, { opening: opening(1, 'a', 1) })
  expect(await recovered(run.sessionId, ['a', 'b'])).toEqual({ restarted: true, waiting: 1, begunWith: ['a', 'b'] })
})

it('begins the task of a child whose workflow was never started: its text came with the call that asked for it', async () => {
  const run = await openSession(at.db)
  const { sessionId } = run
  const origin = `${sessionId}/t1.0.0/hash`
  const child = { ...newSessionRow({ parentId: sessionId, depth: 1, origin }), records: [] }
  const step = await take(at.db, run, { key: openingKey('t1.0.0'), kind: 'child' })
  await settleStep(at.db, step, {
    outcome: {},
    writes: { child: { ...child, message: { messageId: TASK_MESSAGE, text: 'what is it?' } } },
  })
  expect(await recovered(child.sessionId, [])).toEqual({ restarted: true, waiting: 1, begunWith: [TASK_MESSAGE] })
})

it('leaves a session alone that lives in another namespace of Temporal, and names that namespace', async () => {
  const { sessionId } = await openSession(at.db)
  await expect(recovered(sessionId, [], { namespace: 'elsewhere' })).rejects.toMatchObject({
    code: 'SESSION_ELSEWHERE',
    message: `session ${sessionId} lives in namespace ${NAMESPACE} of Temporal, and this client is in elsewhere`,
    hint: expect.stringContaining(`TEMPORAL_NAMESPACE=${NAMESPACE}`),
  })
})

it('leaves a workflow alone if another store has a session under the same id', async () => {
  const { sessionId } = await openSession(at.db)
  await expect(recovered(sessionId, [], { store: 'another' })).rejects.toMatchObject({ code: 'SESSION_ELSEWHERE' })
  const store = (await readIdentity(at.db)) ?? ''
  expect(await recovered(sessionId, [], { store })).toMatchObject({ restarted: true })
})
