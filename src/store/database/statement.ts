/**
 * Every statement that the store sends has a name and is in one list, so that a test can prepare all of them against
 * the schema (`test/store/statements.test.ts`). Commands that cannot be prepared (`begin`, `listen`, `create index`)
 * are not in the list.
 */
declare const registered: unique symbol

/** A statement whose text never varies. Only `statement` makes one. */
export interface Statement {
  readonly name: string
  readonly text: string
  /** The server parses it once per connection, and plans it only a few times. */
  readonly prepared: boolean
  readonly [registered]: true
}

const known = new Map<string, Statement>()

/**
 * @param name unique; PostgreSQL cuts names at 63 bytes
 * @param text its parameters are `$1`, `$2`, …
 * @param prepared false for a statement that is sent once, perhaps through a pooler that mixes prepared statements up.
 *   Default true
 * @example const CLOSED: Statement = statement('sessions_closed', 'select id from sessions where closed_at is not null')
 */
export function statement(name: string, text: string, { prepared = true }: { prepared?: boolean } = {}): Statement {
  if (known.has(name)) throw new Error(`two statements are called ${name}`)
  const made = { name, text, prepared } as Statement
  known.set(name, made)
  return made
}

/** The statements of all modules that are loaded. */
export function allStatements(): Statement[] {
  return [...known.values()]
}
