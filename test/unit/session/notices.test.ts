/** What people outside are told: each question and each pause, until that is done. */
import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import type { Waiting } from '../../../src/protocol/steps.ts'
import { announced, asks, message, only, opened, pause, play, resume, tool, type Played } from './play.ts'

const ID = 't1.0.0@0.1'
const parked: Waiting = { kind: 'pending', gen: 0, item: { id: ID, kind: 'question', tell: true } }
const notified: Input = { type: 'peopleNotified', key: `n.${ID}` }
const waiting = (): Played => play(opened(), message('a'), asks(1, 0, 2, 'book'), tool(1, 0, 0, parked))
const told = ({ commands }: Played): string[] => only(commands, 'notifyPeople').map(({ input }) => input.key)
const nextRun = (played: Played): Played => play(played.state, { type: 'runStarted' })

describe('a question', () => {
  it('is told once, also when its call is met again', () => {
    expect(told(waiting())).toEqual([`n.${ID}`])
    expect(told(play(waiting().state, tool(1, 0, 0, parked)))).toEqual([])
    expect(told(play(waiting().state, notified, tool(1, 0, 0, parked)))).toEqual([])
  })

  it('is told once, also when the store was away and its call asks once more', () => {
    const failed: Input = {
      type: 'stepFailed',
      code: 'STORE_CORRUPT',
      step: { of: 'tool', turn: 1, round: 0, index: 0 },
      message: 'full',
    }
    const answer: Input = { type: 'answered', answer: { id: ID, decision: 'answer', text: 'x' } }
    const broken = play(waiting().state, answer, failed, resume)
    const resumed = play(broken.state, announced(broken, 'resume'))
    expect(only(resumed.commands, 'callTool')).toHaveLength(1)
    expect(told(play(resumed.state, tool(1, 0, 0, { ...parked, refused: 'too long' })))).toEqual([])
  })

  it('is told by the next run only if this one has not', () => {
    expect(told(nextRun(waiting()))).toEqual([`n.${ID}`])
    expect(told(nextRun(play(waiting().state, notified)))).toEqual([])
  })

  it('is not told where nobody is to be told', () => {
    const quiet: Waiting = { ...parked, item: { id: ID, kind: 'question' } }
    expect(told(play(opened(), message('a'), asks(1, 0, 2, 'book'), tool(1, 0, 0, quiet)))).toEqual([])
  })
})

describe('a pause', () => {
  const paused = (): Played => {
    const before = play(opened(), pause)
    const known = announced(before, 'pause') as Extract<Input, { type: 'announced' }>
    return play(before.state, { ...known, outcome: { ...known.outcome, tell: true } })
  }

  it('is told when the store has it, and by the next run only if this one has not', () => {
    expect(told(paused())).toEqual(['n.a1'])
    expect(told(nextRun(paused()))).toEqual(['n.a1'])
    expect(told(nextRun(play(paused().state, { type: 'peopleNotified', key: 'n.a1' })))).toEqual([])
  })

  it('is not told any more when it has ended', () => {
    const resumed = play(paused().state, resume)
    const after = play(resumed.state, announced(resumed, 'resume'))
    expect(told(nextRun(after))).toEqual([])
  })
})
