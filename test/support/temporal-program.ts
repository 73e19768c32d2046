/**
 * Gets the Temporal program before the first test. On a fresh machine it is built, which takes longer than a test may
 * take.
 */
import { findTemporal } from '../../src/dev/find-temporal.ts'

export default async function setup(): Promise<void> {
  await findTemporal({ onProgress: (line) => process.stderr.write(`${line}\n`) })
}
