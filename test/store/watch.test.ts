/** What it costs the store to watch a tree, without missing anything. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ClientDeps } from '../../src/client/client-deps.ts'
import { watchSession } from '../../src/client/watch.ts'
import type { StelloEvent } from '../../src/protocol/events.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { lookAt } from '../../src/store/watching/event-log.ts'
import { createListener, type Listener } from '../../src/store/database/listener.ts'
import { createNotifier } from '../../src/store/database/notifier.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { type RunRef } from '../../src/store/ledger/abandon-future.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { until } from '../support/until.ts'
import { someEvent, newId, newSessionRow, openSession, resetRun } from './fixtures.ts'
import { sentBy, useDatabase, type Sent } from './postgres.ts'

const at = useDatabase()
const silent: Listener = { connected: () => false, subscribe: () => () => undefined, close: async () => undefined }

it('an idle watcher asks once per look, whatever the number of sessions, and nothing about those that are closed', async () => {
  const root = await openSession(at.db)
  const open = await children(root, 'open', 200)
  await children(root, 'closed', 200)
  const watching = watch(root)
  await watching.shows('old', 401)
  const begun = performance.now()
  const sent = await sentBy(looked(4))
  expect(sent.length).toBeLessThanOrEqual((performance.now() - begun) / 1000 + 2)
  const asked = looksOf(sent)
  for (const { ids } of asked.slice(1)) expect(ids.toSorted()).toEqual([root.sessionId, ...open].toSorted())
})

it('looks only at the session that has news', async () => {
  const root = await openSession(at.db)
  const [child = ''] = await children(root, 'open', 50)
  const [listener, notifier] = [createListener(at.url), createNotifier(at.db)]
  onTestFinished(() => listener.close())
  const watching = watch(root, listener)
  await watching.shows('old', 51)
  const sent = await sentBy(async () => {
    for (let n = 0; n < 20; n++) {
      await tell(child, `new ${n}`)
      notifier.notify(child)
      await watching.shows(`new ${n}`)
    }
  })
  expect(looksOf(sent).filter(({ ids }) => ids.length === 1 && ids[0] === child).length).toBeGreaterThan(5)
  await notifier.close()
})

it('finds what nobody told it of, however many other sessions have news', async () => {
  const root = await openSession(at.db)
  const [told = '', untold = ''] = await children(root, 'open', 2)
  const watching = watch(root, {
    ...silent,
    subscribe: (_concerns, heard) => {
      const timer = setInterval(() => heard('progress', told), 10)
      return () => clearInterval(timer)
    },
  })
  await watching.shows('old', 3)
  await tell(untold, 'unheard')
  await watching.shows('unheard')
})

it('shows the whole of a fork that was made, worked and closed between two looks', async () => {
  const root = await openSession(at.db)
  const watching = watch(root)
  await watching.shows('old', 0)
  const fork = newSessionRow({ parentId: root.sessionId, rootId: root.sessionId, depth: 1 })
  await createSession(at.db, fork)
  const behind = newSessionRow({ parentId: fork.sessionId, rootId: root.sessionId, depth: 2 })
  await createSession(at.db, behind)
  for (const { sessionId } of [fork, behind]) {
    await tell(sessionId, `work of ${sessionId}`)
    await at.db.pool.query('update sessions set closed_at = now() where id = $1', [sessionId])
  }
  await watching.shows(`work of ${fork.sessionId}`)
  await watching.shows(`work of ${behind.sessionId}`)
})

describe('a closed session that is rewound is shown again, without the forks of its abandoned future', () => {
  let root: RunRef
  let child: RunRef

  beforeEach(async () => {
    root = await openSession(at.db)
    child = await openSession(at.db, { parentId: root.sessionId, rootId: root.sessionId, depth: 1 })
    const left = newSessionRow({ parentId: child.sessionId, rootId: root.sessionId, depth: 2 })
    await announceFacts(at.db, child, {
      key: 'm1.0.0',
      writes: {
        events: [
          someEvent({
            key: 'forked',
            at: { turn: 1, round: 0 },
            type: 'session.forked',
            data: { child: left.sessionId },
          }),
        ],
        child: { ...left, records: [] },
      },
    })
    await announceFacts(at.db, child, {
      key: 'a1',
      writes: {
        closed: true,
        events: [{ key: 'a1.0', at: { told: 1 }, type: 'session.closed', data: {} }],
      },
    })
  })

  const shownBy = async (watching: Watching): Promise<void> => {
    await watching.shows('session.rewound')
    const asked = looksOf(await sentBy(looked(3)))
    expect(asked.at(-1)?.ids.toSorted()).toEqual([root.sessionId, child.sessionId].toSorted())
  }

  it('when it is heard of', async () => {
    const [listener, notifier] = [createListener(at.url), createNotifier(at.db)]
    onTestFinished(() => listener.close())
    const watching = watch(root, listener)
    await watching.shows('session.closed')
    await resolveRun(at.db, resetRun(child, 'reset', 0))
    notifier.notify(child.sessionId)
    await shownBy(watching)
    await notifier.close()
  })

  it('when nobody listened meanwhile', async () => {
    let connected: () => void = () => undefined
    const watching = watch(root, {
      ...silent,
      subscribe: (_concerns, heard) => {
        connected = () => heard('decision')
        return () => undefined
      },
    })
    await watching.shows('session.closed')
    await resolveRun(at.db, resetRun(child, 'reset', 0))
    connected()
    await shownBy(watching)
  })
})

it('yields each event once and in order over more than one page, also of a future that was abandoned', async () => {
  const root = await openSession(at.db)
  const [first = '', second = ''] = await children(root, 'open', 2)
  for (const [id, count] of [
    [first, 4300],
    [second, 30],
  ] as const) {
    await at.db.pool.query(
      `with told as (update sessions set next_offset = 1 + $2::int where id = $1)
       insert into events (session_id, "offset", gen, key, type, data, abandoned)
       select $1, n, 0, 'many ' || n, 'many', '{}', n % 3 = 0 or n between 1000 and 2100 from generate_series(1, $2) as n`,
      [id, count],
    )
  }
  const watching = watch(root)
  await watching.shows('old', 3)
  await tell(second, 'last')
  await watching.shows('last')
  for (const id of [first, second]) {
    const { rows } = await at.db.pool.query<{ offset: number }>(
      `select "offset" from events where session_id = $1 and not abandoned order by "offset"`,
      [id],
    )
    expect(watching.seen.filter((event) => event.sessionId === id).map(({ offset }) => offset)).toEqual(
      rows.map(({ offset }) => offset),
    )
  }
})

it('says that the session is gone when the store was emptied', async () => {
  const root = await openSession(at.db)
  const watching = watch(root)
  await tell(root.sessionId, 'seen')
  await watching.shows('seen')
  await at.db.pool.query('delete from sessions where id = $1', [root.sessionId])
  await expect(watching.ended).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
})

it('reads no event, no step and no live piece to see that 2,500 sessions have nothing new', async () => {
  const root = await openSession(at.db)
  await children(root, 'open', 2500)
  const { rows } = await at.db.pool.query<{ id: string; next_offset: number }>(
    'select id, next_offset from sessions where root_id = $1',
    [root.sessionId],
  )
  const db = openDatabase(at.url, { max: 1 })
  const read = async (): Promise<number> => {
    await db.pool.query('select pg_stat_force_next_flush()')
    const found = await db.pool.query<{ read: number }>(
      `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_user_tables
       where relname in ('events', 'steps', 'live')`,
    )
    return found.rows[0]?.read ?? NaN
  }
  try {
    const places = new Map(rows.map(({ id, next_offset }) => [id, next_offset]))
    const begun = await read()
    const look = await lookAt(db, places)
    expect([look.sessions.flatMap(({ events }) => events), look.more]).toEqual([[], false])
    expect((await read()) - begun).toBe(0)
  } finally {
    await db.close()
  }
})

const looksOf = (sent: readonly Sent[]): { ids: string[] }[] =>
  sent.filter(({ name }) => name === 'look').map(({ values }) => ({ ids: values[0] as string[] }))

/** Waits until that many looks were sent. */
const looked =
  (count: number) =>
  (sent: readonly Sent[]): Promise<unknown> =>
    until(`${count} looks`, async () => looksOf(sent).length >= count)

/** Forks with one event each. */
async function children({ sessionId }: RunRef, state: 'open' | 'closed', count: number): Promise<string[]> {
  const tag = newId()
  const { rows } = await at.db.pool.query<{ id: string }>(
    `with s as (
       insert into sessions (id, root_id, parent_id, depth, agent, label, config, next_offset, closed_at)
       select $2 || '-' || n, $1, $1, 1, 'test', '', '{}', 1, case $3 when 'closed' then now() end
       from generate_series(1, $4::int) as n returning id
     ), e as (
       insert into events (session_id, "offset", gen, key, type, data) select id, 0, 0, 'old', 'old', '{}' from s
     ) select id from s`,
    [sessionId, tag, state, count],
  )
  await at.db.pool.query(
    `insert into events (session_id, "offset", gen, key, type, data) values ($1, 0, 0, $2, 'old', '{}') on conflict do nothing`,
    [sessionId, tag],
  )
  await at.db.pool.query('update sessions set next_offset = greatest(next_offset, 1) where id = $1', [sessionId])
  return rows.map(({ id }) => id)
}

/** Appends an event. */
async function tell(sessionId: string, type: string): Promise<void> {
  await at.db.pool.query(
    `with told as (update sessions set next_offset = next_offset + 1 where id = $1 returning next_offset - 1 as "offset")
     insert into events (session_id, "offset", gen, key, type, data) select $1, "offset", 0, $2, $2, '{}' from told`,
    [sessionId, type],
  )
}

interface Watching {
  seen: StelloEvent[]
  ended: Promise<void>
  /** Waits until that many events of a type were seen. */
  shows(type: string, times?: number): Promise<unknown>
}

/** Watches until the test ends. */
function watch({ sessionId }: RunRef, listener: Listener = silent): Watching {
  const stopping = new AbortController()
  const { signal } = stopping
  const seen: StelloEvent[] = []
  const follow = async (): Promise<void> => {
    const deps = { db: at.db, listener } as ClientDeps
    for await (const event of watchSession(deps, sessionId, { tree: true, signal })) seen.push(event)
  }
  const ended = follow()
  ended.catch(() => undefined)
  onTestFinished(async () => {
    stopping.abort()
    await ended.catch(() => undefined)
  })
  const shows = (type: string, times = 1): Promise<unknown> =>
    until(`${type} shows`, async () => seen.filter((event) => event.type === type).length === times)
  return { seen, ended, shows }
}
