/** Talks to the tree from outside until every message is answered, also while processes are dead. */
import { setTimeout as delay } from 'node:timers/promises'
import { isStelloError } from '../../../src/core/errors.ts'
import type { SessionHandle, StelloClient, StelloEvent, TurnHandle } from '../../../src/client/index.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { viewOf } from '../../support/settled.ts'
import { until } from '../../support/until.ts'
import type { Plan, PlannedMessage, Talker } from './plan.ts'

export interface Growing {
  client: StelloClient
  db: Database
  agent: string
  plan: Plan
  /**
   * A client's fork makes up the id of the child, so it cannot be tried again. It is asked for while the servers live.
   */
  calmly(work: () => Promise<void>): Promise<void>
  onEvent(event: StelloEvent): void
  /** Awaited before each message. */
  pace(): Promise<void>
}

export interface Grown {
  root: SessionHandle
  /** All sessions by label. */
  sessions: Map<string, SessionHandle>
  /** The events that a watcher of the whole tree has seen, over all its connections. */
  seen: StelloEvent[]
}

export async function growTree({ client, db, agent, plan, calmly, onEvent, pace }: Growing): Promise<Grown> {
  const root = await client.createSession({ agent, label: 'R' })
  const seen: StelloEvent[] = []
  const watching = new AbortController()
  const watched = watchTree(root, watching.signal, (event) => {
    seen.push(event)
    onEvent(event)
    // Three time-outs in a row have paused it.
    if (event.type === 'session.paused') void persist(() => client.session(event.sessionId).resume())
  })
  const byLabel = async (): Promise<Map<string, SessionHandle>> =>
    new Map((await client.list({ rootId: root.id })).map(({ id, label }) => [label, client.session(id)]))
  const find = async (label: string): Promise<SessionHandle> =>
    (await persist(byLabel)).get(label) ?? Promise.reject(new Error(`there is no session ${label}`))
  const talk = (session: SessionHandle, messages: PlannedMessage[]): Promise<void> => talkTo(session, messages, pace)
  const rest = (talker: Talker): PlannedMessage[] => plan[talker].slice(1)

  await talk(root, plan.R.slice(0, 1))
  await calmly(async () => void (await root.fork({ label: 'C1', context: 'inherit' })))
  const growC1 = async (): Promise<void> => {
    const c1 = await find('C1')
    await talk(c1, plan.C1.slice(0, 1))
    await Promise.all([talk(c1, rest('C1')), talk(await find('C1a'), plan.C1a)])
  }
  await Promise.all([talk(root, rest('R')), talk(await find('S1'), plan.S1), talk(await find('S2'), plan.S2), growC1()])

  const sessions = await persist(byLabel)
  for (const [label, session] of sessions) {
    const end = label.startsWith('T') ? 'closed' : 'idle'
    await persist(() => viewOf(client, session, ({ status }) => status === end))
  }
  const last = await persist(() => countEvents(db, root.id))
  await until(`${last} events are seen`, async () => seen.length >= last)
  watching.abort()
  await watched
  return { root, sessions, seen }
}

/** One message waits while another is answered. */
async function talkTo(session: SessionHandle, messages: PlannedMessage[], pace: Growing['pace']): Promise<void> {
  let before: TurnHandle | undefined
  for (const { id, text, twice } of messages) {
    await pace()
    const turn = await persist(() => session.send(text, { messageId: id }))
    if (twice) await persist(() => session.send(text, { messageId: id }))
    if (before) await resultOf(before)
    before = turn
  }
  if (before) await resultOf(before)
}

async function resultOf(turn: TurnHandle): Promise<void> {
  await persist(() => turn.result())
}

async function watchTree(
  root: SessionHandle,
  signal: AbortSignal,
  onEvent: (event: StelloEvent) => void,
): Promise<void> {
  let from: string | number = 0
  while (!signal.aborted) {
    await persist(async () => {
      for await (const event of root.watch({ tree: true, live: false, from, signal })) {
        from = event.cursor
        onEvent(event)
      }
    })
  }
}

async function countEvents({ pool }: Database, rootId: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    'select sum(next_offset)::int as n from sessions where root_id = $1',
    [rootId],
  )
  return rows[0]?.n ?? 0
}

/**
 * Does what a client does while its servers are away: it tries again. An error that another try cannot mend is thrown.
 */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const passing = ['STORE_UNAVAILABLE', 'DATABASE_UNREACHABLE', 'SERVER_UNREACHABLE']
      if (isStelloError(error) && !passing.includes(error.code)) throw error
      await delay(100)
    }
  }
}
