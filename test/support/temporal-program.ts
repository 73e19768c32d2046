/**
 * Gets the Temporal CLI before the first test. On a fresh machine it is downloaded or built. This takes longer than a
 * test may take.
 */
import { findTemporal } from '../../src/dev/find-temporal.ts'

export default async function setup(): Promise<void> {
  await findTemporal({ onProgress: (line) => process.stderr.write(`${line}\n`) })
}
