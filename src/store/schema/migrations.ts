/**
 * The changes of the schema, which `migrate.ts` runs. A released migration is never altered. Older versions may still
 * run beside it, so it may add things but not rename them.
 */
import { SCHEMA } from './schema.ts'
import { WORDS } from '../transcript/search.ts'
import { TOLD } from '../watching/timeline.ts'

/**
 * `oldest`: the last migration that a version must know to use this schema. A migration that takes something away from
 * older versions must write its own name here: `update compatibility set oldest = '<its name>'`.
 */
const COMPATIBILITY = `
  create table compatibility (oldest text not null);
  insert into compatibility (oldest) values ('0001_awaits');
`

/** The migrations, in the order of their names. */
export const MIGRATIONS: Readonly<Record<string, string>> = {
  '0001_awaits': SCHEMA + COMPATIBILITY,
}

/**
 * Indexes that came after the tables. They are built without blocking writers; if the text is null, the index is
 * dropped. Only the speed of reads depends on them. The text is what follows `create index <name>`.
 */
export const INDEXES: Readonly<Record<string, string | null>> = {
  sessions_roots: `on sessions ((date_trunc('milliseconds', created_at at time zone 'utc'))) where parent_id is null`,
  events_timeline: `on events (session_id, "offset") where ${TOLD}`,
  records_words: `on records using gin (${WORDS('message')})`,
}
