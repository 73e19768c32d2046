import { describe, expect, it } from 'vitest'
import { asks, message, only, opened, play, rests, tool } from './play.ts'

describe('rounds', () => {
  it('show the model its own calls and all their results', () => {
    const { commands } = play(opened(), message('a'), asks(1, 0, 2, 'Read', 'Grep'), tool(1, 0, 1), tool(1, 0, 0))
    expect(only(commands, 'callModel')[1]?.input).toMatchObject({ key: 'm1.1', round: 1, base: 4, upTo: 4 })
    expect(only(commands, 'callModel')[1]?.input.opening).toBeUndefined()
  })

  it('mark the model call after the last round, and no other', () => {
    const { commands } = play(
      opened({}, { maxToolRounds: 2 }),
      message('a'),
      asks(1, 0, 2, 'Read'),
      tool(1, 0, 0),
      asks(1, 1, 4, 'Read'),
      tool(1, 1, 0),
      rests(1, 2, 6),
    )
    expect(only(commands, 'callModel').map(({ input }) => input.last)).toEqual([false, false, true])
  })

  it('are not counted over turns', () => {
    const { commands } = play(
      opened({}, { maxToolRounds: 1 }),
      message('a'),
      asks(1, 0, 2, 'Read'),
      tool(1, 0, 0),
      rests(1, 1, 4),
      message('b'),
    )
    expect(only(commands, 'callModel').at(-1)?.input).toMatchObject({ key: 'm2.0', last: false })
  })

  it('are not allowed at all with a limit of 0', () => {
    const { commands } = play(opened({}, { maxToolRounds: 0 }), message('a'))
    expect(only(commands, 'callModel')[0]?.input.last).toBe(true)
  })
})
