/** Lists the roots of trees with the totals of each tree. It must read neither turns nor records of the trees. */
import type { SessionStatus } from '../../protocol/views.ts'
import { run, type Database } from '../database/database.ts'
import { SUMMARIES, toSummaries, type SessionSummary, type SummaryRow } from './sessions.ts'
import { statement, type Statement } from '../database/statement.ts'

/** A root, and the totals of its tree. */
export interface RootSummary extends SessionSummary {
  /** The root and all sessions below it, also those that a rewind has left behind: they may still run. */
  tree: TreeTotals
}

/** The totals of a tree. */
export interface TreeTotals {
  /** Sessions, the root included. */
  sessions: number
  /** Sessions that are not closed. */
  open: number
  /** Items of the inbox: questions to people, and pauses. */
  waiting: number
  /** Tokens that models have read. */
  inputTokens: number
  /** Tokens that models have written. */
  outputTokens: number
  /** US dollars; unset when no call has a known price. */
  costUsd?: number
  /** When the last event has happened. */
  lastAt: Date
}

/** Which roots to list. All that is stated must hold. */
export interface RootFilter {
  /** Only roots of this agent. */
  agent?: string
  /** Only roots in this state. */
  state?: SessionStatus
  /** Only roots that were created before, to the millisecond: `createdAt` of the last root seen gives the next page. */
  before?: Date | undefined
  /** The most roots to list. Default 100. Roots of the same millisecond as the last one come along. */
  limit?: number
}

/** SQL: when it was created, as exactly as a `Date` says it. An index serves it (`INDEXES`). */
const CREATED = `date_trunc('milliseconds', created_at at time zone 'utc')`
/** Roots of one millisecond are never torn apart, so the time of the last one is an exact place to go on from. */
const ROOTS: Statement = statement(
  'roots_list',
  `
  select * from (
    select * from (${SUMMARIES}) listed
    where parent_id is null and ${CREATED} < coalesce($2::timestamptz, 'infinity') at time zone 'utc'
      and ($3::text is null or agent = $3) and ($4::text is null or state = $4)
    order by ${CREATED} desc fetch first ($1) rows with ties
  ) page order by ${CREATED} desc, id`,
)
/** The last event of a session is found by its offset. Waiting items are found by their own rows. */
const TOTALS: Statement = statement(
  'roots_totals',
  `
  with asked as materialized (
    select s.root_id, count(*)::int as n from steps p join sessions s on s.id = p.session_id and s.gen = p.gen
    where p.pending is not null and p.outcome is null and s.closed_at is null and s.root_id = any($1) group by 1
  )
  select r.id, tree.*, spent.*, (coalesce(asked.n, 0) + paused.n) as waiting
  from unnest($1::text[]) as r(id)
  left join asked on asked.root_id = r.id
  cross join lateral (
    select count(*)::int as sessions, count(*) filter (where s.closed_at is null)::int as open,
      greatest(max(last.at), max(s.created_at)) as last_at
    from sessions s left join lateral (
      select at from events where session_id = s.id order by "offset" desc limit 1
    ) last on true
    where s.root_id = r.id
  ) tree
  cross join lateral (
    select count(*)::int as n from sessions where root_id = r.id and pause is not null and closed_at is null
  ) paused
  cross join lateral (
    select coalesce(sum((usage->>'inputTokens')::float8), 0) as input, coalesce(sum((usage->>'outputTokens')::float8), 0) as output,
      sum((usage->>'costUsd')::float8) as cost
    from usage where root_id = r.id
  ) spent`,
)

interface TotalsRow {
  id: string
  sessions: number
  open: number
  last_at: Date
  waiting: number
  input: number
  output: number
  cost: number | null
}

/** Lists roots, newest first. */
export async function listRoots(
  db: Database,
  { limit = 100, before, agent, state }: RootFilter = {},
): Promise<RootSummary[]> {
  const rows = await run<SummaryRow>(db.pool, ROOTS, [limit, before, agent, state])
  const [roots, totals] = await Promise.all([toSummaries(db, rows), readTotals(db, rows)])
  return roots.flatMap((root) => {
    const tree = totals.get(root.id)
    // A root that was removed between the two statements is left out.
    return tree?.sessions ? [{ ...root, tree: toTotals(tree) }] : []
  })
}

async function readTotals(db: Database, roots: readonly { id: string }[]): Promise<Map<string, TotalsRow>> {
  if (roots.length === 0) return new Map()
  const rows = await run<TotalsRow>(db.pool, TOTALS, [roots.map(({ id }) => id)])
  return new Map(rows.map((row) => [row.id, row]))
}

function toTotals({ sessions, open, waiting, input, output, cost, last_at: lastAt }: TotalsRow): TreeTotals {
  const tokens = { inputTokens: input, outputTokens: output }
  return { sessions, open, waiting, ...tokens, ...(cost !== null && { costUsd: cost }), lastAt }
}
