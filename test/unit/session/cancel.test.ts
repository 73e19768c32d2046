import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import {
  announced,
  asks,
  cancel,
  message,
  model,
  only,
  open,
  opened,
  pause,
  play,
  reopen,
  rests,
  result,
  resume,
  tool,
  types,
  unopened,
} from './play.ts'

const refused = { reason: 'model_error', message: 'the key was refused' } as const
const cancelled = result({ isError: true, code: 'TOOL_CANCELLED' })

const early: Input = { type: 'cancelRequested', early: true }

describe('cancel of a message that waits', () => {
  it('in a session that is not open yet ends its turn when it is open, and the model is not asked', () => {
    const begun = play(unopened, message('a', 'pay it'), cancel, cancel, open())
    expect(types(begun.commands)).toEqual(['settleModel'])
    const ended = play(begun.state, model(1, 0, { kind: 'cancelled', gen: 0 }))
    expect(only(ended.commands, 'announce')).toMatchObject([
      { input: { endTurn: { stopReason: 'cancelled', opening: { messageId: 'a', text: 'pay it', seq: 1 } } } },
    ])
    const next = play(ended.state, announced(ended, 'turnEnd'), message('a', 'pay it'), message('b'))
    expect(only(next.commands, 'callModel').map(({ input }) => input.messageId)).toEqual(['b'])
  })

  it('is about the first of them', () => {
    const begun = play(unopened, message('a'), message('b'), cancel, open())
    const ended = play(begun.state, model(1, 0, { kind: 'cancelled', gen: 0 }))
    const { commands } = play(ended.state, announced(ended, 'turnEnd'))
    expect(only(commands, 'callModel').map(({ input }) => input.messageId)).toEqual(['b'])
  })

  it('in a paused session ends its turn at once; the session stays paused', () => {
    const begun = play(opened(), pause, message('a'), message('b'), cancel)
    const ended = play(begun.state, model(1, 0, { kind: 'cancelled', gen: 0 }))
    const { state, commands } = play(ended.state, announced(ended, 'turnEnd'))
    expect(types(commands)).toEqual([])
    expect(state).toMatchObject({ lastStop: 'cancelled', pause: { reason: 'user' }, queue: [{ messageId: 'b' }] })
  })

  it('holds until its text is stored, and over the next run', () => {
    const long = play(opened(), message('a', 'x'.repeat(4097)), cancel)
    expect(only(long.commands, 'settleModel')).toEqual([])
    const rested = { ...long.state, resting: true as const }
    const stored = play(rested, announced(long, 'message'))
    expect(stored.commands).toEqual([])
    expect(types(play(stored.state, { type: 'runStarted' }, open()).commands)).toEqual(['openSession', 'settleModel'])
  })

  it('does nothing to a message that comes after it', () => {
    const { commands } = play(unopened, early, message('a'), open())
    expect(types(commands)).toEqual(['callModel'])
  })

  it('means the turn that the opening finds, and not the messages behind it', () => {
    const begun = play(unopened, early, message('b'), reopen('a'))
    expect(types(begun.commands)).toEqual(['settleModel'])
    const ended = play(begun.state, model(1, 0, { kind: 'cancelled', gen: 0 }))
    const { state, commands } = play(ended.state, announced(ended, 'turnEnd'))
    expect(only(commands, 'callModel').map(({ input }) => input.messageId)).toEqual(['b'])
    expect(state).not.toHaveProperty('stopFound')
  })

  it('means the turn that the opening finds at a later try', () => {
    const failed: Input = { type: 'sessionOpened', outcome: { kind: 'failed', pause: refused } }
    for (const inputs of [
      [early, failed],
      [failed, early],
    ]) {
      const tried = play(unopened, ...inputs, resume)
      const { commands } = play(tried.state, announced(tried, 'resume'), reopen('a'))
      expect(types(commands)).toEqual(['openSession', 'settleModel'])
    }
  })
})

describe('cancel', () => {
  it('does nothing between turns', () => {
    expect(play(opened(), cancel).commands).toEqual([])
  })

  it('of a model call asks the ledger what happened, then ends the turn', () => {
    const stopping = play(opened(), message('a'), cancel, { type: 'modelLost', turn: 1, round: 0, how: 'cancelled' })
    expect(types(stopping.commands)).toEqual(['callModel', 'cancelSteps', 'settleModel'])
    const ended = play(stopping.state, model(1, 0, { kind: 'cancelled', gen: 0 }))
    expect(only(ended.commands, 'announce')).toMatchObject([
      { input: { endTurn: { stopReason: 'cancelled', rounds: 0, opening: { messageId: 'a', seq: 1 } } } },
    ])
    expect(play(ended.state, announced(ended, 'turnEnd')).state).toMatchObject({ lastStop: 'cancelled', seq: 1 })
  })

  it('takes the answer of a model that was faster', () => {
    const { state } = play(opened(), message('a'), cancel, rests(1, 0, 2, 'fast'))
    expect(state).toMatchObject({ lastAnswer: 'fast', lastStop: 'end_turn' })
  })

  it('gives every call a result, also those that never began', () => {
    const names = Array.from({ length: 34 }, () => 'Read')
    const asked = play(opened(), message('a'), asks(1, 0, 2, ...names))
    const stopping = play(asked.state, cancel)
    expect(only(stopping.commands, 'settleTool').map(({ input }) => input.step.key)).toEqual(['t1.0.32', 't1.0.33'])
    const ends = names.map((_, i) => tool(1, 0, i, cancelled))
    const ended = play(stopping.state, ...ends)
    expect(types(ended.commands)).toEqual(['announce'])
    expect(play(ended.state, announced(ended, 'turnEnd')).state).toMatchObject({
      seq: 36,
      totals: { toolCalls: 34 },
      lastStop: 'cancelled',
    })
  })

  it('ends a turn of a paused session, which stays paused', () => {
    const stopping = play(opened(), message('a'), asks(1, 0, 2, 'Read'), pause, tool(1, 0, 0), cancel)
    const ended = play(stopping.state, model(1, 1, { kind: 'cancelled', gen: 0 }))
    const { state, commands } = play(ended.state, announced(ended, 'turnEnd'), message('b'))
    expect(state.turn).toBeUndefined()
    expect(only(commands, 'callModel')).toEqual([])
  })

  it('takes an answer that nobody heard because the step failed, after the store is mended', () => {
    const failure = {
      type: 'stepFailed',
      code: 'STORE_CORRUPT',
      step: { of: 'model', turn: 1, round: 0 },
      message: 'bad row',
    } as const
    const failed = play(opened(), message('a'), failure, cancel, resume)
    expect(only(failed.commands, 'settleModel')).toEqual([])
    const resumed = play(failed.state, announced(failed, 'resume'))
    expect(only(resumed.commands, 'settleModel').map(({ input }) => input.proposed)).toEqual(['cancelled'])
    expect(play(resumed.state, rests(1, 0, 2, 'unheard')).state).toMatchObject({ lastAnswer: 'unheard', seq: 2 })
  })

  it.each([
    ['the model', play(opened(), message('a'), cancel).state, model(1, 0, { kind: 'failed', pause: refused })],
    [
      'a tool',
      play(opened(), message('a'), asks(1, 0, 2, 'Read'), cancel).state,
      tool(1, 0, 0, { kind: 'failed', pause: refused }),
    ],
  ])('ends the turn even if %s fails meanwhile: no pause', (_who, stopping, failed) => {
    const { state, commands } = play(stopping, failed)
    expect(state.pause).toBeUndefined()
    expect(types(commands)).toEqual([expect.stringMatching(/^settle(Model|Tool)$/)])
  })

  it('wins over a completing call of the same round, whose text is not the answer', () => {
    const asked = play(opened(), message('a'), asks(1, 0, 2, 'attempt_completion'), cancel)
    const ended = play(asked.state, tool(1, 0, 0, result({ endsTurn: true, preview: 'all done' })))
    expect(only(ended.commands, 'announce').map(({ input }) => input.endTurn)).toEqual([
      { stopReason: 'cancelled', rounds: 0 },
    ])
    expect(play(ended.state, announced(ended, 'turnEnd')).state.lastAnswer).toBe('')
  })

  it('does not write the message again after the model has answered, even with nothing', () => {
    const { commands } = play(opened(), message('a'), cancel, asks(1, 0, 2))
    expect(only(commands, 'announce').map(({ input }) => input.endTurn)).toEqual([
      { stopReason: 'cancelled', rounds: 0 },
    ])
  })

  it('is heard once per turn', () => {
    const { commands } = play(opened(), message('a'), cancel, cancel)
    expect(only(commands, 'cancelSteps')).toHaveLength(1)
  })

  it('lets the next message begin', () => {
    const ended = play(opened(), message('a'), message('b'), cancel, model(1, 0, { kind: 'cancelled', gen: 0 }))
    const { commands } = play(ended.state, announced(ended, 'turnEnd'))
    expect(only(commands, 'callModel').map(({ input }) => [input.key, input.upTo])).toEqual([['m2.0', 2]])
  })
})
