/**
 * The cost of a fork that inherits, from a short parent and from a very long one, and the rows that a hundred forks
 * leave.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { SessionHandle } from '../src/client/index.ts'
import { waitForNews } from '../src/client/wait-for-news.ts'
import { announceFacts } from '../src/store/ledger/announce-facts.ts'
import { openDatabase } from '../src/store/database/database.ts'
import { NO_CHAIN, nextRecord } from '../src/store/ledger/hashes.ts'
import { createListener, type Listener } from '../src/store/database/listener.ts'
import type { NewRecord } from '../src/store/ledger/writes.ts'
import { emptyAgent } from './agent.ts'
import { median, type Values } from './figures.ts'
import { timed } from './turns.ts'
import { newName, type World } from './world.ts'

const [SHORT, LONG] = [10, 10_000] as const
const REPETITIONS = 30
const AT_ONCE = 100
/**
 * The pause between two looks at a child. The looks begin only when news of the child has come. So there are few looks,
 * and their cost is not measured.
 */
const LOOK_EVERY_MS = 2
/** Every table that may hold rows of a session, with the column that names the session. */
const TABLES = {
  sessions: 'id',
  generations: 'session_id',
  runs: 'session_id',
  steps: 'session_id',
  records: 'session_id',
  messages: 'session_id',
  events: 'session_id',
}

export async function measureForks(world: World): Promise<Values<'fork'>> {
  const name = newName('fork')
  const [short, long] = [await parentOf(world, name, SHORT), await parentOf(world, name, LONG)]
  const worker = await world.work(emptyAgent(name))
  const database = new pg.Pool({ connectionString: world.databaseUrl })
  const listener = createListener(world.databaseUrl)
  const fork = (parent: SessionHandle): Promise<SessionHandle> => forkOf(database, listener, parent)
  try {
    const times = { short: [] as number[], long: [] as number[] }
    for (let n = 0; n < REPETITIONS; n++) {
      if (n % 10 === 0) world.say(`forks: ${n} of ${REPETITIONS}`)
      times.short.push(await timed(() => fork(short)))
      times.long.push(await timed(() => fork(long)))
    }
    const one = await fork(long)
    world.say(`forks: ${AT_ONCE} at once`)
    const atOnce = await timed(() => Promise.all(Array.from({ length: AT_ONCE }, () => fork(long))))
    return {
      fork_ms: median(times.long),
      [`fork_${LONG}_over_${SHORT}` as const]: median(times.long) / median(times.short),
      fork_bytes: await bytesOf(database, one.id),
      fork_records: await rowsOf(database, one.id),
      [`forks_${AT_ONCE}_at_once_ms` as const]: atOnce,
    }
  } finally {
    await listener.close()
    await database.end()
    await worker.stop()
  }
}

/** A session whose conversation is written into the store without any model. */
async function parentOf(world: World, agent: string, length: number): Promise<SessionHandle> {
  const bounds = { maxChildren: 2 * (REPETITIONS + AT_ONCE) }
  const session = await world.stello.createSession({ agent, label: `${length} records`, bounds })
  const { runId } = await world.temporal.workflow.getHandle(session.id).describe()
  const db = openDatabase(world.databaseUrl)
  const records: NewRecord[] = []
  for (let seq = 1; seq <= length; seq++) {
    const role = seq % 2 ? 'user' : 'assistant'
    records.push(nextRecord(records.at(-1)?.chain ?? NO_CHAIN, seq, { role, content: `record ${seq}` }))
  }
  const run = { sessionId: session.id, runId, namespace: 'default', gen: 0, turn: 0, place: { seq: 0, told: 0 } }
  await announceFacts(db, { ...run, isNewest: async () => true }, { key: 'seed', writes: { records } })
  await db.close()
  return session
}

/** Resolves when the child's worker has opened the child, and so has read what the child inherits. */
async function forkOf(database: pg.Pool, listener: Listener, parent: SessionHandle): Promise<SessionHandle> {
  const sessionId = newName('child')
  const news = waitForNews(listener, (id) => id === sessionId)
  const child = await parent.fork({ label: 'child', context: 'inherit', sessionId })
  await news.next()
  news.stop()
  while (!(await isOpen(database, child.id))) await delay(LOOK_EVERY_MS)
  return child
}

async function isOpen(database: pg.Pool, id: string): Promise<boolean> {
  const { rows } = await database.query<{ open: boolean }>(
    'select branch_seq is not null as open from sessions where id = $1',
    [id],
  )
  return rows[0]?.open === true
}

async function bytesOf(database: pg.Pool, id: string): Promise<number> {
  const sizes = Object.entries(TABLES).map(
    ([table, column]) => `select coalesce(sum(pg_column_size(t.*)), 0) as bytes from ${table} t where ${column} = $1`,
  )
  const { rows } = await database.query<{ bytes: number }>(
    `select sum(bytes)::int as bytes from (${sizes.join(' union all ')}) as sizes`,
    [id],
  )
  return rows[0]?.bytes ?? NaN
}

async function rowsOf(database: pg.Pool, id: string): Promise<number> {
  const { rows } = await database.query<{ n: number }>('select count(*)::int as n from records where session_id = $1', [
    id,
  ])
  return rows[0]?.n ?? NaN
}
