/**
 * Ids that people make folders, keys and labels of: fit to be one part of a path. Checked where they come in, and once
 * more when a worker opens the session.
 */

/** ASCII only: folders must not become one by how a file system folds letters. */
const SESSION = /^(?!\.+$)[a-zA-Z0-9._-]{1,100}$/
/** E-mail addresses too. */
const USER = /^(?!\.+$)[a-zA-Z0-9._@+-]{1,100}$/
/** What a template makes of a value that is not there: everybody without an id would be one user. */
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
