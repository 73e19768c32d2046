/** What people see of a call accumulates, and is cleared after its end. */
import { describe, expect, it } from 'vitest'
import { mergeCard, ToolStatus, type ToolCard, type ToolStatusOptions } from '../../../src/tool/tool-status.ts'

const after = (...sent: [ToolStatus, ToolStatusOptions?][]): ToolCard | undefined =>
  sent.reduce<ToolCard | undefined>((card, [status, options]) => mergeCard(card, status, options), undefined)

describe('a card', () => {
  it('keeps what was said: params are merged, result and tip replaced', () => {
    expect(
      after(
        [ToolStatus.WAIT, { showTip: 'soon', params: { city: 'Os' } }],
        [ToolStatus.WAIT, { params: { city: 'Oslo', unit: 'c' }, result: 'none' }],
        [ToolStatus.DOING, { showTip: 'now', params: { days: 2 } }],
        [ToolStatus.SUCCESS, { result: { degrees: 3 } }],
      ),
    ).toEqual({
      status: 'SUCCESS',
      showTip: 'now',
      params: { city: 'Oslo', unit: 'c', days: 2 },
      result: { degrees: 3 },
    })
  })

  it('never goes back', () => {
    expect(after([ToolStatus.DOING], [ToolStatus.WAIT, { showTip: 'late' }])).toEqual({
      status: 'DOING',
      showTip: 'late',
    })
  })

  it.each([ToolStatus.SUCCESS, ToolStatus.ERROR])('is cleared after %s', (end) => {
    expect(after([end, { showTip: 'over', params: { a: 1 } }], [ToolStatus.WAIT, { params: { b: 2 } }])).toEqual({
      status: 'WAIT',
      params: { b: 2 },
    })
  })

  it('takes an undefined field for a missing one', () => {
    const options = { showTip: undefined } as unknown as ToolStatusOptions
    expect(after([ToolStatus.WAIT, { showTip: 'soon' }], [ToolStatus.DOING, options])).toEqual({
      status: 'DOING',
      showTip: 'soon',
    })
  })
})
