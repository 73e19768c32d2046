/** What surrounds the performer of a simulated session. */
import type { Input } from '../../../src/session/inputs.ts'
import type { Ledger } from './ledger.ts'
import type { Row } from './row.ts'
import type { Watcher } from './watcher.ts'

export interface Surroundings {
  watcher: Watcher
  ledger: Ledger
  row: Row
  choose(options: number): number
  happens(event: Input): void
  personAnswers(): void
  /** Somebody has cancelled or closed. */
  stopAsked(): boolean
}
