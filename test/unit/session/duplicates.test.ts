import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { announced, asks, message, model, opened, pause, play, rests, resume, tool } from './play.ts'

const asked = play(opened(), message('a'), asks(1, 0, 2, 'Read', 'Grep'), tool(1, 0, 0)).state

describe('an event that belongs to nothing under way changes nothing', () => {
  const strays: [string, Input][] = [
    ['a model answer told again', asks(1, 0, 2, 'Read', 'Grep')],
    ['the answer of another turn', rests(2, 0, 2)],
    ['a lost model call that has answered', { type: 'modelLost', turn: 1, round: 0, how: 'timedOut' }],
    ['a result told again', tool(1, 0, 0)],
    ['the result of another round', tool(1, 1, 1)],
    ['the result of a call nobody made', tool(1, 0, 9)],
    ['a lost call that has ended', { type: 'toolLost', turn: 1, round: 0, index: 0, how: 'cancelled' }],
    [
      'the failure of a call that has ended',
      { type: 'stepFailed', code: 'STORE_CORRUPT', step: { of: 'tool', turn: 1, round: 0, index: 0 }, message: 'x' },
    ],
    [
      'the failure of a model call that has answered',
      { type: 'stepFailed', code: 'STORE_CORRUPT', step: { of: 'model', turn: 1, round: 0 }, message: 'x' },
    ],
    [
      'a child of a call that does not wait',
      { type: 'childVanished', callKey: 't1.0.1', childId: 's-x', message: 'gone' },
    ],
    [
      'the end of a turn that is not ending',
      { type: 'announced', key: 'a9', tag: 'turnEnd', outcome: { gen: 0, children: [] } },
    ],
    ['a message known already', message('a')],
  ]
  it.each(strays)('%s', (_name, event) => {
    const { state, commands } = play(asked, event)
    expect(state).toEqual(asked)
    expect(commands).toEqual([])
  })

  it('the answer of an earlier round while the model is asked again', () => {
    const asking = play(asked, tool(1, 0, 1)).state
    expect(asking.turn).toMatchObject({ phase: 'model', round: 1, running: true })
    expect(play(asking, asks(1, 0, 2, 'Read', 'Grep')).state).toEqual(asking)
  })

  it('an answer after the turn has ended', () => {
    const ended = play(opened(), message('a'), rests(1, 0, 2)).state
    expect(play(ended, model(1, 0, { kind: 'cancelled', gen: 0 })).state).toEqual(ended)
  })

  it('a resume told twice, with a pause between', () => {
    const resuming = play(opened(), pause, resume)
    const again = play(resuming.state, announced(resuming, 'resume'), pause).state
    expect(play(again, announced(resuming, 'resume')).state).toEqual(again)
  })
})
