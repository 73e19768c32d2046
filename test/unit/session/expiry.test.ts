/** Questions that wait for a limited time: an answer or the end of the time counts, and never both. */
import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { answerProblem } from '../../../src/session/answers.ts'
import type { Waiting } from '../../../src/protocol/steps.ts'
import { asks, cancel, message, only, open, opened, pause, play, result, tool, type Played } from './play.ts'

const ID = 't1.0.0@0.1'
const AT = '2030-01-01T00:00:00.000Z'
const parked = (over: Partial<Waiting['item']> = {}): Waiting => ({
  kind: 'pending',
  gen: 0,
  item: { id: ID, kind: 'question', expiresAt: AT, ...over },
})
const PROMISE = { type: 'endAsking', callKey: 't1.0.0', id: ID, at: AT }
const over: Input = { type: 'askingOver', callKey: 't1.0.0', id: ID }
const answer: Input = { type: 'answered', answer: { id: ID, decision: 'answer', text: 'EU' } }
const failed: Input = {
  type: 'stepFailed',
  code: 'STORE_CORRUPT',
  step: { of: 'tool', turn: 1, round: 0, index: 0 },
  message: 'full',
}

const running = (): Played => play(opened(), message('a'), asks(1, 0, 2, 'book'))
const waiting = (): Played => play(running().state, tool(1, 0, 0, parked()))
const proposed = ({ commands }: Played): unknown[] => only(commands, 'settleTool').map(({ input }) => input.proposed)
const refusals = ({ commands }: Played): unknown[] =>
  only(commands, 'announce').flatMap(({ input }) => input.events.map(({ data }) => data))

describe('a question with a time', () => {
  it('promises the end of its time once, and one without a time never', () => {
    expect(waiting().commands).toEqual([PROMISE])
    expect(play(waiting().state, tool(1, 0, 0, parked())).commands).toEqual([])
    const { expiresAt: _never, ...item } = parked().item
    expect(play(running().state, tool(1, 0, 0, { ...parked(), item })).commands).toEqual([])
  })

  it('asks the ledger when its time is over, and goes on as the ledger says', () => {
    expect(proposed(play(waiting().state, over))).toEqual([{ kind: 'expired', id: ID }])
    const after = play(waiting().state, over, tool(1, 0, 0, { kind: 'due', gen: 0 }))
    expect(only(after.commands, 'callTool')).toHaveLength(1)
    expect(after.state.turn?.calls[0]).not.toHaveProperty('expired')
  })

  it('takes an answer that comes first, and its time then ends without effect', () => {
    const played = play(waiting().state, answer, over, over)
    expect(proposed(played)).toMatchObject([{ kind: 'answered' }])
    expect(play(played.state, tool(1, 0, 0, { kind: 'due', gen: 0 })).state.turn?.calls[0]).not.toHaveProperty(
      'expired',
    )
  })

  it('refuses an answer that comes later, and says why', () => {
    const played = play(waiting().state, over, answer)
    expect(proposed(played)).toEqual([{ kind: 'expired', id: ID }])
    expect(refusals(played)).toEqual([{ id: ID, reason: `the time for an answer to "${ID}" is over` }])
    expect(answerProblem(played.state, { id: ID, decision: 'decline' })).toContain('is over')
  })

  it('is over when the ledger refuses the answer that came first', () => {
    const played = play(waiting().state, answer, over, tool(1, 0, 0, { ...parked(), refused: 'too small' }))
    expect(proposed(played)).toMatchObject([{ kind: 'answered' }, { kind: 'expired', id: ID }])
    expect(refusals(played)).toEqual([{ id: ID, reason: 'too small' }])
  })

  it('promises the end of its time also when its answer is here before it, because the ledger may refuse that answer', () => {
    const early = play(running().state, answer, tool(1, 0, 0, { ...parked(), leftMs: 1000 }))
    expect(proposed(early)).toMatchObject([{ kind: 'answered' }])
    expect(only(early.commands, 'endAsking')).toEqual([PROMISE])
    const refused = play(early.state, tool(1, 0, 0, { ...parked(), leftMs: 900, refused: 'too small' }), over)
    expect(only(refused.commands, 'endAsking')).toEqual([])
    expect(proposed(refused)).toEqual([{ kind: 'expired', id: ID }])
  })

  it('is over also when the store could not be told: it is told again after the pause', () => {
    const paused = play(waiting().state, over, failed)
    const { pause: _held, ...resumed } = paused.state
    const again = play(resumed, message('b'), tool(1, 0, 0, parked()))
    expect(proposed(again)).toEqual([{ kind: 'expired', id: ID }])
  })

  it('ends while the session is paused', () => {
    expect(proposed(play(waiting().state, pause, over))).toEqual([{ kind: 'expired', id: ID }])
  })

  it('is promised anew by the next run, and only while it waits', () => {
    const next = play(waiting().state, { type: 'runStarted' })
    expect(only(next.commands, 'endAsking')).toEqual([PROMISE])
    const done = play(waiting().state, answer, tool(1, 0, 0, result()))
    expect(only(play(done.state, { type: 'runStarted' }).commands, 'endAsking')).toEqual([])
  })

  it('is left alone when it was asked before a rewind: the new question has a time of its own', () => {
    const rewound = play(waiting().state, { type: 'runStarted' }, open())
    const state = { ...rewound.state, gen: 1 }
    expect(proposed(play(state, over))).toEqual([])
  })

  it('changes nothing when its turn is stopped, or when it belongs to another question', () => {
    expect(proposed(play(waiting().state, cancel, over))).toEqual([{ kind: 'cancelled' }])
    expect(proposed(play(waiting().state, { ...over, id: 't1.0.0@0.9' }))).toEqual([])
    expect(play(running().state, over).commands).toEqual([])
  })
})
