import { describe, expect, it } from 'vitest'
import { status } from '../../../src/session/state.ts'
import { announced, cancel, close, message, model, only, opened, pause, play, rests, types } from './play.ts'

describe('close', () => {
  it('of an idle session is told to the store, then final', () => {
    const closing = play(opened(), close)
    const { state } = play(closing.state, announced(closing, 'close'))
    expect(state.closed).toBe(true)
    expect(play(state, message('a')).commands).toEqual([])
  })

  it('ends the turn under way first, and the messages that wait', () => {
    const closing = play(opened(), message('a'), message('b', 'later'), close)
    expect(only(closing.commands, 'announce')).toEqual([])
    const ended = play(closing.state, model(1, 0, { kind: 'cancelled', gen: 0 }))
    expect(only(ended.commands, 'announce')).toMatchObject([{ input: { endTurn: { stopReason: 'closed' } } }])
    expect(only(play(ended.state, announced(ended, 'turnEnd')).commands, 'announce')).toMatchObject([
      { tag: 'close', input: { close: { messages: [{ messageId: 'b', text: 'later' }], cascade: false } } },
    ])
  })

  it('is heard once: the first cascade stays', () => {
    const { commands } = play(opened(), message('a'), close, { type: 'closeRequested', cascade: true })
    expect(only(commands, 'cancelSteps')).toHaveLength(1)
    const closing = play(opened(), close, { type: 'closeRequested', cascade: true })
    expect(only(closing.commands, 'announce').map(({ input }) => input.close?.cascade)).toEqual([false])
  })

  it('does not wait for a resume', () => {
    const closing = play(opened(), pause, message('a'), close)
    expect(only(closing.commands, 'announce').at(-1)?.tag).toBe('close')
  })

  it('refuses messages, visibly', () => {
    const { commands } = play(play(opened(), close).state, message('late'))
    expect(only(commands, 'announce')[0]?.input.events).toMatchObject([
      { type: 'message.rejected', data: { reason: 'the session is closed' } },
    ])
  })

  it('with cascade closes the children the store knows', () => {
    const closing = play(opened(), { type: 'closeRequested', cascade: true })
    expect(only(play(closing.state, announced(closing, 'close', ['s-2', 's-3'])).commands, 'signalChild')).toEqual([
      { type: 'signalChild', childId: 's-2', signal: 'close' },
      { type: 'signalChild', childId: 's-3', signal: 'close' },
    ])
  })

  it('finds a session the store has closed before', () => {
    const { state } = play(opened(), { type: 'runStarted' }, { type: 'sessionOpened', outcome: { kind: 'closed' } })
    expect(status(state)).toBe('closed')
  })
})

describe('a child that is awaited', () => {
  const awaited = { awaited: { parentId: 's-0', callKey: 't4.1.0' }, messages: ['task'] }

  it('reports its first turn and closes', () => {
    const { commands } = play(opened(awaited), rests(1, 0, 2))
    expect(types(commands)).toEqual(['reportToParent', 'announce'])
    expect(only(commands, 'reportToParent')[0]).toMatchObject({
      parentId: 's-0',
      report: { childId: 's-1', childTurn: 1, callKey: 't4.1.0' },
    })
  })

  it('reports turn 0 when it closes without an answer', () => {
    const closing = play(opened({ awaited: awaited.awaited }), close)
    const { commands } = play(closing.state, announced(closing, 'close'))
    expect(only(commands, 'reportToParent').map(({ report }) => report.childTurn)).toEqual([0])
  })

  it('closes when it is cancelled before its turn began', () => {
    const { commands } = play(opened({ awaited: awaited.awaited }), cancel)
    expect(only(commands, 'announce').map(({ tag }) => tag)).toEqual(['close'])
  })

  it('reports turn 0 and closes when its task cannot be read', () => {
    const outcome = { kind: 'duplicate', gen: 0, reason: 'message task has no text' } as const
    const closing = play(opened(awaited), model(1, 0, outcome))
    const { state, commands } = play(closing.state, announced(closing, 'close'))
    expect(only(commands, 'reportToParent').map(({ report }) => report.childTurn)).toEqual([0])
    expect(state.closed).toBe(true)
  })

  it('reports once', () => {
    const answered = play(opened(awaited), rests(1, 0, 2))
    const { commands } = play(answered.state, announced(answered, 'close'))
    expect(only(commands, 'reportToParent')).toEqual([])
  })
})
