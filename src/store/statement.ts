/**
 * Every statement that the store sends has a name and stands in one list, so that a test prepares them all against the
 * schema (`test/store/statements.test.ts`). Commands that cannot be prepared (`begin`, `listen`, `create index`) are none.
 */
declare const registered: unique symbol

/** Its text never varies. Made by `statement` only. */
export interface Statement {
  readonly name: string
  readonly text: string
  /** Parsed once per connection, and planned at most some times. */
  readonly prepared: boolean
  readonly [registered]: true
}

const known = new Map<string, Statement>()

/**
 * @param name unique; PostgreSQL cuts names at 63 bytes
 * @param text its parameters are `$1`, `$2`, …
 * @param prepared false: it is asked once, perhaps through a pooler that mixes prepared statements up. Default true
 * @example const CLOSED: Statement = statement('sessions_closed', 'select id from sessions where closed_at is not null')
 */
export function statement(name: string, text: string, { prepared = true }: { prepared?: boolean } = {}): Statement {
  if (known.has(name)) throw new Error(`two statements are called ${name}`)
  const made = { name, text, prepared } as Statement
  known.set(name, made)
  return made
}

/** Of all modules that are loaded. */
export function allStatements(): Statement[] {
  return [...known.values()]
}
