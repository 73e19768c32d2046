import { describe, expect, it } from 'vitest'
import { initialState, status } from '../../../src/session/state.ts'
import { announced, asks, message, model, only, open, opened, play, rests, result, tool, types } from './play.ts'

describe('a turn', () => {
  it('waits for the store to open the session', () => {
    const state = initialState({ sessionId: 's-1', label: 'demo' })
    const before = play(state, { type: 'runStarted' }, message('a'))
    expect(types(before.commands)).toEqual(['openSession'])
    expect(types(play(before.state, open()).commands)).toEqual(['callModel'])
  })

  it('begins with the message as its first record', () => {
    const { state, commands } = play(opened(), message('a', 'hi'))
    expect(only(commands, 'callModel')).toMatchObject([
      {
        input: {
          key: 'm1.0',
          turn: 1,
          round: 0,
          base: 0,
          upTo: 1,
          opening: { messageId: 'a', text: 'hi' },
          last: false,
        },
      },
    ])
    expect(status(state)).toBe('running')
  })

  it('ends when the model rests, and leaves the session idle with the answer', () => {
    const { state } = play(opened(), message('a'), rests(1, 0, 2, 'forty-two'))
    expect(state).toMatchObject({ lastAnswer: 'forty-two', lastStop: 'end_turn', seq: 2, turns: 1 })
    expect(state.turn).toBeUndefined()
    expect(status(state)).toBe('idle')
  })

  it('gives its records back if the message was answered by an earlier turn', () => {
    const { state, commands } = play(opened(), message('a'), message('b'), model(1, 0, { kind: 'duplicate', gen: 0 }))
    expect(only(commands, 'callModel').map(({ input }) => [input.key, input.upTo, input.opening?.messageId])).toEqual([
      ['m1.0', 1, 'a'],
      ['m1.0', 1, 'b'],
    ])
    expect(state.turns).toBe(1)
  })

  it('shows people why a message could not be read, and goes on', () => {
    const { commands } = play(
      opened(),
      message('a'),
      model(1, 0, { kind: 'duplicate', gen: 0, reason: 'no such message' }),
    )
    expect(only(commands, 'announce').flatMap(({ input }) => input.events)).toMatchObject([
      { type: 'message.rejected', data: { reason: 'no such message', preview: 'a' } },
    ])
  })

  it('ends with the result of a completing call, told to the store with the record of its text', () => {
    const asked = play(opened(), message('a'), asks(1, 0, 2, 'Read', 'attempt_completion'))
    const played = play(asked.state, tool(1, 0, 0), tool(1, 0, 1, result({ endsTurn: true, preview: 'all done' })))
    expect(only(played.commands, 'announce')).toMatchObject([
      { tag: 'turnEnd', input: { endTurn: { stopReason: 'completed', rounds: 0, textFrom: 4 } } },
    ])
    expect(play(played.state, announced(played, 'turnEnd')).state).toMatchObject({
      lastAnswer: 'all done',
      lastStop: 'completed',
      totals: { turns: 1 },
    })
  })
})
