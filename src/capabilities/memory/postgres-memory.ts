/** Memories in PostgreSQL, shared by all workers, in the schema `stello_memory`. */
import { PackDatabase } from '../database/pack-database.ts'
import type { MemoryStore, StoredMemory } from './memory-store.ts'

/** Options of `postgresMemory`. */
export interface PostgresMemoryOptions {
  /** `postgresql://…`. Default: the environment variable `STELLO_DATABASE_URL`. */
  connectionString?: string
}

const TABLES = `
  create schema if not exists stello_memory;
  create sequence if not exists stello_memory.versions;
  create table if not exists stello_memory.memories (
    space text not null,
    name text not null,
    description text not null,
    type text not null,
    body text not null,
    version bigint not null default nextval('stello_memory.versions'),
    changed_at timestamptz not null default now(),
    primary key (space, name)
  )`
const FIELDS = 'name, description, type, body, version::text as version'
const LIST = `select ${FIELDS} from stello_memory.memories where space = $1 order by name collate "C"`
const GET = `select ${FIELDS} from stello_memory.memories where space = $1 and name = $2`
const CREATE = `
  insert into stello_memory.memories (space, name, description, type, body) values ($1, $2, $3, $4, $5)
  on conflict do nothing returning version`
const CHANGE = `
  update stello_memory.memories
  set description = $3, type = $4, body = $5, version = nextval('stello_memory.versions'), changed_at = now()
  where space = $1 and name = $2 and version::text = $6 returning version`
const DELETE = 'delete from stello_memory.memories where space = $1 and name = $2 returning name'

/**
 * Keeps memories in PostgreSQL. It makes its tables itself.
 *
 * @throws StelloError DATABASE_UNREACHABLE from each method, where the database cannot be used
 * @example memory({ memoryManager: new MemoryManager(postgresMemory({ connectionString: 'postgresql://…' })) })
 */
export function postgresMemory({ connectionString }: PostgresMemoryOptions = {}): MemoryStore {
  const db = new PackDatabase({ pack: 'memory', tables: TABLES, ...(connectionString && { connectionString }) })
  return {
    open: () => db.open(),
    close: () => db.close(),
    list: (space) => db.ask<StoredMemory>(LIST, [space]),
    async get(space, name) {
      const [found] = await db.ask<StoredMemory>(GET, [space, name])
      return found
    },
    async put(space, { name, description, type, body }, expectedVersion) {
      const values = [space, name, description, type, body]
      const written =
        expectedVersion === undefined
          ? await db.ask(CREATE, values)
          : await db.ask(CHANGE, [...values, expectedVersion])
      return written.length > 0
    },
    async delete(space, name) {
      return (await db.ask(DELETE, [space, name])).length > 0
    },
  }
}
