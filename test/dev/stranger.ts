/** A second user of the machine. A test leaves files and processes as that user. */

export interface Stranger {
  uid: number
  gid: number
}

/** @throws Error where this is impossible: the test then fails and says what it needs, and is not skipped */
export function stranger(): Stranger {
  if (process.getuid?.() !== 0) throw new Error('this test acts as a second user: run it as root, as CI does')
  // This works without an account.
  return { uid: 54_321, gid: 54_321 }
}
