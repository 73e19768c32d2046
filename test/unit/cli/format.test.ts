import { describe, expect, it } from 'vitest'
import { eventLine } from '../../../src/cli/format.ts'

const lineOf = (type: string): string | undefined =>
  eventLine({ sessionId: 's-1', at: new Date(0), type, data: { generation: 1, seq: 4, turn: 2 }, cursor: '{}' })

it('the line of a step that is not run again says why', () => {
  const data = { key: 't1.0.0', kind: 'tool', name: 'glob', turn: 1, callId: 'c-1', deaths: 3 }
  const line = eventLine({ sessionId: 's-1', at: new Date(0), type: 'step.quarantined', data, cursor: '{}' })
  expect(line).toContain('glob t1.0.0 is not run again: its worker died 3 times while it ran')
})

describe('the line of a session', () => {
  it('that was rewound says what no longer counts', () => {
    expect(lineOf('session.rewound')).toContain('behind record 4; what came after it in this session no longer counts')
  })

  it('that was restarted does not: a restart takes nothing away', () => {
    expect(lineOf('session.restarted')).toContain('behind record 4; a turn without an answer is taken up again')
  })
})
