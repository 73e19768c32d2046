import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { asks, callRef, message, only, opened, play, tool } from './play.ts'

const ordered = { ...callRef('Write'), ordered: true as const }
const begun = (...inputs: Input[]): number[] =>
  only(
    play(opened(), message('a'), asks(1, 0, 2, ordered, 'Read', ordered, ordered), ...inputs).commands,
    'callTool',
  ).map(({ input }) => input.index)

describe('ordered calls of a round', () => {
  it('begin one after another, in the order of the calls; other calls do not wait for them', () => {
    expect(begun()).toEqual([0, 1])
    expect(begun(tool(1, 0, 1))).toEqual([0, 1])
    expect(begun(tool(1, 0, 0))).toEqual([0, 1, 2])
    expect(begun(tool(1, 0, 0), tool(1, 0, 2))).toEqual([0, 1, 2, 3])
  })

  it('wait for an earlier call that waits for a person', () => {
    expect(begun(tool(1, 0, 0, { kind: 'pending', gen: 0, item: { id: 't1.0.0@0.1', kind: 'approval' } }))).toEqual([
      0, 1,
    ])
  })
})
