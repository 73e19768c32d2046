/** A second user of the machine, as whom a test leaves files and processes about. */

export interface Stranger {
  uid: number
  gid: number
}

/** @throws Error where this cannot be done: such a test says what it needs, and is not passed over. */
export function stranger(): Stranger {
  if (process.getuid?.() !== 0) throw new Error('this test acts as a second user: run it as root, as CI does')
  // Needs no account.
  return { uid: 54_321, gid: 54_321 }
}
