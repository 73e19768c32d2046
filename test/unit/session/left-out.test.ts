import { describe, expect, it } from 'vitest'
import type { Pause } from '../../../src/core/pause.ts'
import type { Input } from '../../../src/session/inputs.ts'
import { announced, cancel, message, model, only, opened, play, rests, resume } from './play.ts'

const wall: Pause = { reason: 'model_error', message: '400' }
const refuses = (turn: number): Input => model(turn, 0, { kind: 'failed', pause: wall, refused: true })
const cancelled = (turn: number): Input => model(turn, 0, { kind: 'cancelled', gen: 0 })

describe('a turn that its provider refuses for good', () => {
  it('is left out of what models read once it is cancelled, and later calls know of it', () => {
    const ending = play(opened(), message('a'), refuses(1), cancel, cancelled(1))
    const [told] = only(ending.commands, 'announce').filter(({ tag }) => tag === 'turnEnd')
    expect(told?.input.endTurn).toMatchObject({ stopReason: 'cancelled', leftOut: 1 })
    const ended = play(ending.state, announced(ending, 'turnEnd'), resume)
    const { commands } = play(ended.state, announced(ended, 'resume'), message('b'))
    expect(only(commands, 'callModel')).toMatchObject([{ input: { turn: 2, leftOut: 1 } }])
  })

  it('stays in what models read if it was answered in the end', () => {
    const refused = play(opened(), message('a'), refuses(1), resume)
    const { state } = play(refused.state, announced(refused, 'resume'), rests(1, 0, 2))
    expect(state).not.toHaveProperty('leftOut')
    const { commands } = play(state, message('b'))
    expect(only(commands, 'callModel')[0]?.input).not.toHaveProperty('leftOut')
  })

  it('stays in what models read if it is cancelled after a refusal of another kind', () => {
    const again = play(opened(), message('a'), refuses(1), resume)
    const failed = play(again.state, announced(again, 'resume'), model(1, 0, { kind: 'failed', pause: wall }))
    const ending = play(failed.state, cancel, cancelled(1))
    const [told] = only(ending.commands, 'announce').filter(({ tag }) => tag === 'turnEnd')
    expect(told?.input.endTurn).not.toHaveProperty('leftOut')
  })
})
