/** What every activity is told about the run that asks. */
import { describe, expect, it } from 'vitest'
import type { SessionInput } from '../../../src/protocol/session-input.ts'
import { factsOf } from '../../../src/workflows/run.ts'

const input: SessionInput = {
  session: { sessionId: 's-1', label: 'demo' },
  agent: 'a',
  rootId: 's-1',
  searchable: false,
}
const first = { firstExecutionRunId: 'r-1' }
const started = { ...first, runId: 'r-1', originalExecutionRunId: 'r-1' }
const continued = { ...first, runId: 'r-2', originalExecutionRunId: 'r-2', continuedFromExecutionRunId: 'r-1' }

describe('a run is fresh', () => {
  it('when its workflow was started anew, and not when it was rewound', () => {
    expect(factsOf(input, started)).toEqual({ fresh: 'r-1' })
    expect(factsOf(input, { ...started, runId: 'r-9' })).toEqual({})
  })

  it('when it continues a fresh run whose opening failed, and not when it was rewound or knows the session', () => {
    const state = { queue: [], fresh: true as const }
    expect(factsOf({ ...input, state }, continued)).toEqual({ prevRunId: 'r-1', fresh: 'r-2' })
    expect(factsOf({ ...input, state }, { ...continued, runId: 'r-9' })).toEqual({ prevRunId: 'r-1' })
    expect(factsOf({ ...input, state: { queue: [] } }, continued)).toEqual({ prevRunId: 'r-1' })
  })
})
