/** "Request Cancellation" in the Temporal UI: what it stops depends on what there is to stop. */
import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { close, message, model, only, open, opened, pause, play, reopen, types, unopened } from './play.ts'

const stop: Input = { type: 'stopRequested' }
const early: Input = { type: 'stopRequested', early: true }

describe('a stop', () => {
  it('cancels the turn under way, and the session stays open', () => {
    const { state, commands } = play(opened(), message('a'), stop)
    expect(state.turn?.stopping).toBe('cancelled')
    expect(state.closing).toBeUndefined()
    expect(only(commands, 'cancelSteps')).toHaveLength(1)
    const ended = play(state, model(1, 0, { kind: 'cancelled', gen: 0 }))
    expect(only(ended.commands, 'announce')).toMatchObject([{ input: { endTurn: { stopReason: 'cancelled' } } }])
  })

  it('changes nothing while the turn stops', () => {
    const { state } = play(opened(), message('a'), stop)
    expect(play(state, stop)).toMatchObject({ state, commands: [] })
  })

  it('cancels the turn that a message is about to begin', () => {
    const { state } = play(opened(), pause, message('a'), stop)
    expect(state.closing).toBeUndefined()
  })

  it('before the opening cancels the turn that the opening finds, and the session stays open', () => {
    const begun = play(unopened, early, reopen('a'))
    expect(types(begun.commands)).toEqual(['settleModel'])
    expect(begun.state.closing).toBeUndefined()
  })

  it('before the opening closes a session that the opening finds idle', () => {
    const { state, commands } = play(unopened, early, open())
    expect(state.closing).toMatchObject({ cascade: false })
    expect(only(commands, 'announce')).toMatchObject([{ input: { close: { cascade: false } } }])
  })

  it('closes a session that cannot be opened, before or after that is known', () => {
    const cannot: Input = {
      type: 'sessionOpened',
      outcome: { kind: 'failed', pause: { reason: 'agent_error', message: 'gone' } },
    }
    for (const inputs of [
      [early, cannot],
      [cannot, early],
    ]) {
      expect(play(unopened, ...inputs).state.closing).toMatchObject({ announced: true })
    }
  })

  it('closes at the second time, opened or not', () => {
    expect(play(unopened, early, early).state.closing).toMatchObject({ cascade: false })
  })

  it('closes a session that does nothing, but not its forks', () => {
    const { state, commands } = play(opened(), stop)
    expect(state.closing).toMatchObject({ cascade: false })
    expect(commands).toEqual(play(opened(), close).commands)
  })
})
