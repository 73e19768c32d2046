import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import type { SessionState } from '../../../src/session/state.ts'
import { announced, asks, message, only, opened, pause, play, result, resume, tool, timeout } from './play.ts'

/** Plays one round of `Read` calls that time out. */
function timesOut(state: SessionState, round: number, calls = 1): ReturnType<typeof play> {
  const names = Array.from({ length: calls }, () => 'Read')
  const ends = names.map((_, i): Input => tool(1, round, i, timeout))
  return play(state, asks(1, round, state.seq + 1, ...names), ...ends)
}

describe('time-outs in a row', () => {
  it('pause the session over rounds at the limit, not before', () => {
    const second = timesOut(timesOut(play(opened(), message('a')).state, 0).state, 1)
    expect(second.state.pause).toBeUndefined()
    const third = timesOut(second.state, 2)
    expect(third.state.pause).toMatchObject({
      reason: 'tool_timeouts',
      message: 'tool "Read" timed out 3 times in a row',
    })
    expect(only(third.commands, 'callModel')).toEqual([])
  })

  it('pause within one round too', () => {
    expect(timesOut(play(opened(), message('a')).state, 0, 3).state.pause?.reason).toBe('tool_timeouts')
  })

  it('are counted in the order of the calls, in whatever order the calls end', () => {
    const { state } = play(
      opened({}, { timeoutsBeforePause: 2 }),
      message('a'),
      asks(1, 0, 2, 'Read', 'Read', 'Read'),
      tool(1, 0, 2, timeout),
      tool(1, 0, 0, timeout),
      tool(1, 0, 1),
    )
    expect(state.pause).toBeUndefined()
    expect(state.timeouts).toEqual({ Read: 1 })
  })

  it('say how many there were, even if a later call of the round went well', () => {
    const { state } = play(
      opened({}, { timeoutsBeforePause: 2 }),
      message('a'),
      asks(1, 0, 2, 'Read', 'Read', 'Read'),
      tool(1, 0, 0, timeout),
      tool(1, 0, 1, timeout),
      tool(1, 0, 2),
    )
    expect(state.pause?.message).toBe('tool "Read" timed out 2 times in a row')
  })

  it('of one tool are not cleared by another tool', () => {
    const { state } = play(
      opened(),
      message('a'),
      asks(1, 0, 2, 'Read', 'Grep', 'Read', 'Read'),
      tool(1, 0, 0, timeout),
      tool(1, 0, 1),
      tool(1, 0, 2, timeout),
      tool(1, 0, 3, timeout),
    )
    expect(state.pause?.reason).toBe('tool_timeouts')
  })

  it('are cleared by any other outcome of that tool', () => {
    const { state } = play(
      opened(),
      message('a'),
      asks(1, 0, 2, 'Read', 'Read', 'Read', 'Read'),
      tool(1, 0, 0, timeout),
      tool(1, 0, 1, timeout),
      tool(1, 0, 2, result({ isError: true, code: 'TOOL_EXECUTION_ERROR' })),
      tool(1, 0, 3, timeout),
    )
    expect(state.pause).toBeUndefined()
  })

  it('are cleared by resume, and the turn goes on', () => {
    const paused = timesOut(play(opened(), message('a')).state, 0, 3)
    const resuming = play(paused.state, resume)
    const { state, commands } = play(resuming.state, announced(resuming, 'resume'))
    expect(state.timeouts).toEqual({})
    expect(only(commands, 'callModel').map(({ input }) => input.key)).toEqual(['m1.1'])
  })

  it('pause also when they end the last round of a turn', () => {
    const { state } = play(
      opened({}, { timeoutsBeforePause: 1 }),
      message('a'),
      asks(1, 0, 2, 'Read', 'attempt_completion'),
      tool(1, 0, 0, timeout),
      tool(1, 0, 1, result({ endsTurn: true })),
    )
    expect(state.pause?.reason).toBe('tool_timeouts')
    expect(state.turn?.phase).toBe('ending')
  })

  it('pause again when they come while a resume is being told', () => {
    const asked = play(opened({}, { timeoutsBeforePause: 1 }), message('a'), asks(1, 0, 2, 'Read'), pause)
    const resuming = play(asked.state, resume)
    const { state } = play(resuming.state, tool(1, 0, 0, timeout), announced(resuming, 'resume'))
    expect(state.pause?.reason).toBe('tool_timeouts')
  })
})
