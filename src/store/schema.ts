/** The table that is read through Kysely's builder; the hot paths are prepared statements. `migrations` creates all. */
import type { ColumnType, Generated } from 'kysely'
import type { SessionConfig } from '../session/config.ts'
import type { Pause } from '../session/steps.ts'

type Json<T> = ColumnType<T, string, string>
type At = ColumnType<Date, never, never>

export interface SessionsTable {
  id: string
  root_id: string
  parent_id: string | null
  branch_session: string | null
  branch_gen: number | null
  branch_seq: number | null
  depth: number
  agent: string
  label: string
  profile: string | null
  config: Json<SessionConfig>
  /** What asked for a fork: the same origin may ask again, another may not. */
  origin: string | null
  gen: Generated<number>
  run_id: string | null
  next_offset: Generated<number>
  pause: Json<Pause> | null
  closed_at: Date | null
  created_at: At
}

export interface Schema {
  sessions: SessionsTable
}
