import fc from 'fast-check'
import { describe, it } from 'vitest'
import { Simulator } from './simulator.ts'

/** Set STELLO_RUNS for a longer search. */
const numRuns = Number(process.env.STELLO_RUNS ?? 400)

describe('a session in any order of events', () => {
  it('keeps its invariants and always comes to rest', { timeout: 600_000 }, () => {
    const tapes = fc.array(fc.nat(719), { minLength: 20, maxLength: 400, size: 'max' })
    fc.assert(
      fc.property(tapes, (tape) => new Simulator(tape).run()),
      /** This time is for shrinking a failure, which may take minutes. */
      { numRuns, interruptAfterTimeLimit: 20_000 + 20 * numRuns },
    )
  })
})
