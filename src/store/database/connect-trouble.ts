/**
 * Explains why a connection to PostgreSQL fails, and what somebody can do about it. It is text for people and decides
 * nothing.
 */
import { messageOf } from '../../core/errors.ts'
import { sqlState } from './database.ts'
import { REMEDY } from './direct.ts'
import type { Trouble } from './trouble.ts'

/** Texts by SQLSTATE, for a server that has answered. */
const REFUSALS: Readonly<Record<string, Trouble>> = {
  '08P01': { what: 'a pooler stands before PostgreSQL that does not pass settings on', hint: REMEDY },
  '28P01': { what: 'the password is wrong', hint: 'correct it in STELLO_DATABASE_URL, or in PGPASSWORD' },
  '28000': {
    what: 'PostgreSQL does not let this user in from here',
    hint: 'correct the user of STELLO_DATABASE_URL, or pg_hba.conf of the server; does that want TLS (`?sslmode=verify-full`), or a client certificate (`&sslcert=…&sslkey=…`)?',
  },
  '3D000': {
    what: 'there is no such database',
    hint: 'create it with `createdb`, or correct the name in STELLO_DATABASE_URL',
  },
  '42501': {
    what: 'the user may not use this',
    hint: 'grant it: connect on the database, usage on its schema, all on its tables',
  },
  '53300': {
    what: 'PostgreSQL has no connection left',
    hint: 'raise max_connections, or the limit of the user or the database, or run fewer workers: see docs/deploy.md',
  },
  '57P03': { what: 'PostgreSQL is just starting or stopping', hint: 'ask again in a moment; its log says more' },
}
/** Texts by the words of the connection's error, from the special to the general. */
const CONNECTIONS: readonly [pattern: RegExp, trouble: Trouble][] = [
  [
    /self.signed|unable to (get|verify)|unknown ca/i,
    {
      what: 'the certificate of PostgreSQL is of a CA that is unknown here',
      hint: 'name the file of that CA: `?sslmode=verify-full&sslrootcert=…` in STELLO_DATABASE_URL, or NODE_EXTRA_CA_CERTS',
    },
  ],
  [
    /altname|does not match certificate/i,
    { what: 'the certificate of PostgreSQL is for another name', hint: 'correct the host of STELLO_DATABASE_URL' },
  ],
  [
    /certificate has expired|not yet valid/i,
    { what: 'the certificate of PostgreSQL is not valid now', hint: 'renew it' },
  ],
  [
    /certificate.required|bad.certificate|alert number (42|116)|handshake.failure/i,
    {
      what: 'PostgreSQL wants another client certificate, or one at all',
      hint: 'name its files in STELLO_DATABASE_URL: `&sslcert=…&sslkey=…`',
    },
  ],
  [/does not support SSL/i, { what: 'PostgreSQL does not speak TLS', hint: 'take sslmode out of STELLO_DATABASE_URL' }],
  [
    /ENOTFOUND|EAI_AGAIN/i,
    { what: 'the name of the server is unknown', hint: 'correct the host of STELLO_DATABASE_URL' },
  ],
]
const AWAY: Trouble = {
  what: 'PostgreSQL does not answer',
  hint: 'start it, or correct STELLO_DATABASE_URL (`stello dev` brings a PostgreSQL of its own)',
}

/** @param error of the driver */
export function connectTrouble(error: unknown): Required<Trouble> {
  const words = wordsOf(error)
  const code = error instanceof Error ? sqlState(error) : undefined
  const refusal = code === undefined ? undefined : REFUSALS[code]
  const { what, hint = '' } = refusal ?? CONNECTIONS.find(([pattern]) => pattern.test(words))?.[1] ?? AWAY
  return { what: `${what}: ${words}`, hint }
}

/** If a name has several addresses, the driver says for each one why it failed, and nothing about all of them. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ')
  return messageOf(error)
}
