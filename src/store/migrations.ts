/**
 * The changes of the schema. One that was released is never altered, and versions before it may still run: it adds, and
 * does not rename. `migrate.ts` runs them.
 */
import { SCHEMA } from './schema.ts'

/**
 * `oldest`: the last migration that a version must know to work on this schema. One that takes something away from the
 * versions before states itself here: `update compatibility set oldest = '<its name>'`.
 */
const COMPATIBILITY = `
  create table compatibility (oldest text not null);
  insert into compatibility (oldest) values ('0001_store');
`

/** In order of their names. */
export const MIGRATIONS: Readonly<Record<string, string>> = {
  '0001_store': SCHEMA + COMPATIBILITY,
}

/**
 * Indexes that came after the tables: built, or dropped where the text is null, without holding up who writes. Nothing but
 * the speed of a look depends on them. Behind the name stands what follows `create index`.
 */
export const INDEXES: Readonly<Record<string, string | null>> = {}
