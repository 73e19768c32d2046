import { describe, expect, it } from 'vitest'
import { eventLine } from '../../../src/cli/format.ts'

const lineOf = (type: string): string | undefined =>
  eventLine({ sessionId: 's-1', at: new Date(0), type, data: { generation: 1, seq: 4, turn: 2 }, cursor: '{}' })

describe('the line of a session', () => {
  it('that was rewound says what no longer counts', () => {
    expect(lineOf('session.rewound')).toContain('behind record 4; what came after it in this session no longer counts')
  })

  it('that was restarted does not: a restart takes nothing away', () => {
    expect(lineOf('session.restarted')).toContain('behind record 4; a turn without an answer is taken up again')
  })
})
