/** The call of a model that opens the first turn of a session. */
import type { CallModelInput } from '../../src/protocol/steps.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { placeAt } from './fixtures.ts'

export function openingCall({ sessionId }: RunRef): CallModelInput {
  return {
    sessionId,
    key: 'm1.0',
    gen: 0,
    turn: 1,
    base: 0,
    place: placeAt(0),
    messageId: 'm',
    round: 0,
    upTo: 1,
    opening: { messageId: 'm', text: 'hello' },
    last: false,
  }
}
