/**
 * Explains by SQLSTATE why the store cannot work, and what somebody can do about it. It is text for people and decides
 * nothing.
 */

export interface Trouble {
  what: string
  hint?: string
}

/** Texts by the whole code, or else by its class. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  '25006': {
    what: 'the store is read-only',
    hint: 'promote the replica, or lift default_transaction_read_only',
  },
  '28': {
    what: 'the store refuses the log-in',
    hint: 'make the user and password of the database URL valid again; running work cannot use another URL',
  },
  '3D': { what: 'the database is not there', hint: 'bring it back under the name of the database URL' },
  '42': {
    what: 'the store does not know what it is asked for',
    hint: 'does the URL lead to the right database? Start a worker of the newest version: it brings the schema up to date',
  },
  '42501': { what: 'the store does not permit this', hint: 'grant the user of the database URL its rights again' },
  '53': { what: 'the store has no room or no connection left', hint: 'make room, or allow more connections' },
  '55': { what: 'the store is not in a state to do this', hint: 'bring PostgreSQL back to normal work' },
  '55P03': {
    what: 'the store gives no lock in time',
    hint: 'end the session that holds the lock: pg_stat_activity shows it',
  },
  P0: {
    what: 'a trigger in the store objects',
    hint: 'nothing of Stello raises this: look at the triggers of its tables',
  },
  XX: { what: 'the store has met an error of its own', hint: 'look into the log of PostgreSQL' },
}

const AWAY: Trouble = { what: 'the store does not answer' }

/** @param code SQLSTATE; unset for an error of the network */
export function troubleOf(code: string | undefined): Trouble {
  return TROUBLES[code ?? ''] ?? TROUBLES[code?.slice(0, 2) ?? ''] ?? AWAY
}
