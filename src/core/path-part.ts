/**
 * Ids that people use as names of folders, keys and labels. Each must be a valid part of a path. They are checked on
 * the way in, and again when a worker opens the session.
 */

/** ASCII only: a file system that folds letters must not make one folder of two ids. */
const SESSION = /^(?!\.+$)[a-zA-Z0-9._-]{1,100}$/
/** Allows e-mail addresses. */
const USER = /^(?!\.+$)[a-zA-Z0-9._@+-]{1,100}$/
/**
 * A template writes these words for a missing value. They are refused: otherwise everybody without an id would be the
 * same user.
 */
const NOBODY = ['undefined', 'null', 'NaN']

export function sessionIdProblem(id: unknown): string | undefined {
  if (typeof id === 'string' && SESSION.test(id)) return undefined
  return `${shown(id)} is not allowed: use 1 to 100 letters, digits, ".", "_" or "-", and not dots alone`
}

export function userIdProblem(id: unknown): string | undefined {
  if (typeof id === 'string' && USER.test(id) && !NOBODY.includes(id)) return undefined
  const rule = 'use 1 to 100 letters, digits, ".", "_", "-", "@" or "+", not dots alone, and no name of nothing'
  return `${shown(id)} is not allowed: ${rule}`
}

function shown(id: unknown): string {
  return typeof id === 'string' ? JSON.stringify(id.slice(0, 120)) : `of type ${id === null ? 'null' : typeof id}`
}
