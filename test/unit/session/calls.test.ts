import { describe, expect, it } from 'vitest'
import { asks, cancel, message, only, opened, pause, play, resume, announced, result, tool, types } from './play.ts'

const asked = (...names: string[]) => play(opened(), message('a'), asks(1, 0, 2, ...names))

describe('the calls of a round', () => {
  it('begin together, each with a record of its own', () => {
    const inputs = only(asked('Read', 'Grep').commands, 'callTool').map(({ input }) => input)
    expect(inputs.map(({ key, seq, base }) => [key, seq, base])).toEqual([
      ['t1.0.0', 3, 2],
      ['t1.0.1', 4, 2],
    ])
  })

  it('begin at most 32 at once; each that ends makes room for the next', () => {
    const many = asked(...Array.from({ length: 40 }, () => 'Read'))
    expect(only(many.commands, 'callTool')).toHaveLength(32)
    expect(only(play(many.state, tool(1, 0, 7)).commands, 'callTool').map(({ input }) => input.index)).toEqual([32])
  })

  it('let the model go on only when the last result is in', () => {
    const first = play(asked('Read', 'Grep').state, tool(1, 0, 1))
    expect(types(first.commands)).toEqual([])
    expect(types(play(first.state, tool(1, 0, 0)).commands)).toEqual(['callModel'])
  })

  it('are settled by the ledger when their activity is lost', () => {
    const { commands } = play(asked('Read').state, { type: 'toolLost', turn: 1, round: 0, index: 0, how: 'timedOut' })
    expect(only(commands, 'settleTool')).toMatchObject([
      { input: { step: { key: 't1.0.0', seq: 3 }, proposed: { kind: 'timedOut' } } },
    ])
  })

  it('pause the session when a step fails for good, and resume tries that very step again', () => {
    const failed = play(asked('Read').state, {
      type: 'stepFailed',
      code: 'STORE_CORRUPT',
      step: { of: 'tool', turn: 1, round: 0, index: 0 },
      message: 'bad row',
    })
    expect(failed.state.pause).toMatchObject({ reason: 'store_error', message: 'bad row' })
    const resuming = play(failed.state, resume)
    const { commands } = play(resuming.state, announced(resuming, 'resume'))
    expect(only(commands, 'callTool').map(({ input }) => input.key)).toEqual(['t1.0.0'])
  })

  it('pause the session for the reason their activity gives', () => {
    const { state } = play(
      asked('Read').state,
      tool(1, 0, 0, { kind: 'failed', pause: { reason: 'budget', message: 'spent' } }),
    )
    expect(state).toMatchObject({ pause: { reason: 'budget' }, turn: { calls: [{ status: 'due' }] } })
  })

  it('stop asking the store also in a session that was paused before', () => {
    const stopping = play(asked('Read').state, pause, cancel, {
      type: 'toolLost',
      turn: 1,
      round: 0,
      index: 0,
      how: 'cancelled',
    })
    const failed = play(stopping.state, {
      type: 'stepFailed',
      code: 'STORE_CORRUPT',
      step: { of: 'tool', turn: 1, round: 0, index: 0 },
      message: 'bad row',
    })
    expect(types(failed.commands)).toEqual(['announce'])
    expect(failed.state.pause?.reason).toBe('store_error')
  })

  it('wait for a resume if even ending them fails, and do not ask again at once', () => {
    const stopping = play(asked('Read', 'Grep').state, tool(1, 0, 1), cancel, {
      type: 'toolLost',
      turn: 1,
      round: 0,
      index: 0,
      how: 'cancelled',
    })
    const failed = play(stopping.state, {
      type: 'stepFailed',
      code: 'STORE_CORRUPT',
      step: { of: 'tool', turn: 1, round: 0, index: 0 },
      message: 'bad row',
    })
    expect(types(failed.commands)).toEqual(['announce'])
    const resuming = play(failed.state, resume)
    expect(types(play(resuming.state, announced(resuming, 'resume')).commands)).toEqual(['settleTool'])
  })

  it('keep no text of a result in the state, except the one that ends the turn', () => {
    const { state } = play(asked('Read', 'Grep').state, tool(1, 0, 0, result({ preview: 'x'.repeat(1000) })))
    expect(state.turn?.calls[0]?.result?.preview).toBe('')
  })
})
