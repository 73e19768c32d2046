import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { initialState, status } from '../../../src/session/state.ts'
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
  resume,
  tool,
  types,
} from './play.ts'

const bad = { reason: 'model_error', message: 'the key was refused' } as const

describe('pause', () => {
  it('is told to the store and to watchers', () => {
    const { state, commands } = play(opened(), { type: 'pauseRequested', message: 'lunch' })
    expect(only(commands, 'announce')).toMatchObject([
      { input: { pause: { reason: 'user', message: 'lunch' }, events: [{ type: 'session.paused' }] } },
    ])
    expect(status(state)).toBe('paused')
  })

  it('holds turns, rounds and calls, but takes what was under way', () => {
    const { state, commands } = play(opened(), message('a'), pause, asks(1, 0, 2, 'Read'), message('b'))
    expect(only(commands, 'callTool')).toEqual([])
    expect(state.turn?.calls[0]?.status).toBe('due')
    expect(state.queue).toHaveLength(1)
  })

  it('keeps its first reason', () => {
    const { state } = play(opened(), message('a'), pause, model(1, 0, { kind: 'failed', pause: bad }))
    expect(state.pause?.reason).toBe('user')
  })

  it.each(['store_error', 'agent_error'] as const)('gives way to a %s, and the session can be closed', (reason) => {
    const paused = play(initialState({ sessionId: 's-1', label: 'demo' }), { type: 'runStarted' }, pause)
    const outcome = { kind: 'failed', pause: { reason, message: 'gone' } } as const
    const { state, commands } = play(
      paused.state,
      { type: 'sessionOpened', outcome },
      { type: 'closeRequested', cascade: false },
    )
    expect(state.pause?.reason).toBe(reason)
    expect(only(commands, 'announce')).toMatchObject([{ input: { pause: { reason } } }, { tag: 'close' }])
  })

  it('of its agent gives way to one of the store, which is not asked again and again', () => {
    const pause = { reason: 'agent_error', message: 'gone' } as const
    const stopping = play(opened(), message('a'), model(1, 0, { kind: 'failed', pause }), { type: 'cancelRequested' })
    expect(types(stopping.commands)).toContain('settleModel')
    const step = { of: 'model', turn: 1, round: 0 } as const
    const failed = play(stopping.state, { type: 'stepFailed', code: 'STORE_CORRUPT', step, message: 'a bad row' })
    expect(types(failed.commands)).toEqual(['announce'])
    expect(failed.state.pause?.reason).toBe('store_error')
  })

  it('of a session that is found paused before it is opened lets it be closed, and resumed', () => {
    const outcome = {
      kind: 'failed',
      found: true,
      pause: { reason: 'user', message: 'paused before it was opened' },
    } as const
    const waiting = play(initialState({ sessionId: 's-1', label: 'demo' }), { type: 'runStarted' }, pause)
    const asked = play(waiting.state, { type: 'closeRequested', cascade: false })
    expect(only(asked.commands, 'announce')).toMatchObject([{ tag: 'none', input: { closing: 'unopened' } }])
    const failed: Input = { type: 'sessionOpened', outcome }
    const close: Input = { type: 'closeRequested', cascade: false }
    expect(only(play(asked.state, failed).commands, 'announce')).toMatchObject([{ tag: 'close' }])
    expect(only(play(waiting.state, failed, close).commands, 'announce')).toMatchObject([{ tag: 'close' }])
    const resuming = play(waiting.state, failed, resume)
    const again = play(resuming.state, announced(resuming, 'resume'))
    expect(types(again.commands)).toEqual(['openSession'])
    const told = only(play(again.state, pause, close).commands, 'announce')
    expect(told).toMatchObject([{ input: { pause: {} } }, { tag: 'none', input: { closing: 'unopened' } }])
  })

  it.each(
    (['user', 'model_error'] as const).flatMap((reason) => [
      [reason, 'before the store knows of the resume'] as const,
      [reason, 'after that'] as const,
    ]),
  )(
    'that the opening has found does not come back when the person has resumed meanwhile: %s, told %s',
    (reason, when) => {
      const outcome = { kind: 'failed', found: true, pause: { reason, message: 'paused before' } } as const
      const failed: Input = { type: 'sessionOpened', outcome }
      const resuming = play(initialState({ sessionId: 's-1', label: 'demo' }), { type: 'runStarted' }, pause, resume)
      const told = announced(resuming, 'resume')
      const after = play(resuming.state, ...(when === 'after that' ? [told, failed] : [failed, told]))
      expect(types(after.commands)).toEqual(['openSession'])
      expect(status(after.state)).not.toBe('paused')
      const stopped = play(play(resuming.state, failed).state, pause, { type: 'closeRequested', cascade: false })
      expect(only(stopped.commands, 'announce').at(-1)).toMatchObject({ tag: 'close' })
    },
  )

  it('cuts the reason that people see', () => {
    const { state } = play(opened(), { type: 'pauseRequested', message: 'x'.repeat(100_000) })
    expect(state.pause?.message).toHaveLength(1000)
  })
})

describe('resume', () => {
  it('starts nothing before the store knows of it', () => {
    const resuming = play(opened(), pause, message('a'), resume)
    expect(only(resuming.commands, 'callModel')).toEqual([])
    expect(types(play(resuming.state, announced(resuming, 'resume')).commands)).toEqual(['callModel'])
  })

  it('tries the very step that failed', () => {
    const resuming = play(opened(), message('a'), model(1, 0, { kind: 'failed', pause: bad }), resume)
    const { commands } = play(resuming.state, announced(resuming, 'resume'))
    expect(only(commands, 'callModel').map(({ input }) => [input.key, input.upTo])).toEqual([['m1.0', 1]])
  })

  it('begins a call again that found the session paused', () => {
    const resuming = play(
      opened(),
      message('a'),
      asks(1, 0, 2, 'Read'),
      pause,
      tool(1, 0, 0, { kind: 'notStarted' }),
      resume,
    )
    const { commands } = play(resuming.state, announced(resuming, 'resume'))
    expect(only(commands, 'callTool').map(({ input }) => input.key)).toEqual(['t1.0.0'])
  })

  it('loses to a pause that comes before the store knows of it', () => {
    const first = play(opened(), message('a'), pause, resume)
    const second = play(first.state, pause)
    const after = play(second.state, asks(1, 0, 2, 'Read'), announced(first, 'resume'))
    expect(status(after.state)).toBe('paused')
    expect(only(after.commands, 'callTool')).toEqual([])
    const again = play(after.state, resume)
    expect(only(play(again.state, announced(again, 'resume')).commands, 'callTool')).toHaveLength(1)
  })

  it.each([
    ['model call', [message('a'), model(1, 0, { kind: 'notStarted' })], 'callModel'],
    ['call', [message('a'), asks(1, 0, 2, 'Read'), tool(1, 0, 0, { kind: 'notStarted' })], 'callTool'],
  ] as const)('is told once more when a %s found the store paused, and the session is not', (_step, events, begun) => {
    const parted = play(opened(), ...events, message('b'))
    expect(parted.commands.at(-1)).toMatchObject({
      tag: 'resume',
      input: { pause: null, events: [{ type: 'session.resumed' }] },
    })
    expect(types(play(parted.state, announced(parted, 'resume')).commands)).toEqual([begun])
  })

  it('is told once, however many calls of a round found the store paused', () => {
    const calls = [0, 1, 2].map((index) => tool(1, 0, index, { kind: 'notStarted' }))
    const parted = play(opened(), message('a'), asks(1, 0, 2, 'Read', 'Grep', 'Glob'), ...calls)
    expect(only(parted.commands, 'announce')).toHaveLength(1)
    expect(types(play(parted.state, announced(parted, 'resume')).commands)).toEqual(Array(3).fill('callTool'))
  })

  it('is not told for a turn that is being stopped', () => {
    const stopped = play(opened(), message('a'), asks(1, 0, 2, 'Read'), cancel, tool(1, 0, 0, { kind: 'notStarted' }))
    expect(types(stopped.commands).at(-1)).toBe('settleTool')
    expect(only(stopped.commands, 'announce')).toEqual([])
  })

  it('goes on, even if a step says only then that it was not begun because of the pause', () => {
    const resuming = play(opened(), message('a'), pause, resume)
    const late = play(resuming.state, announced(resuming, 'resume'), model(1, 0, { kind: 'notStarted' }))
    expect(types(play(late.state, announced(late, 'resume')).commands)).toEqual(['callModel'])
  })

  it('that is told once more loses to a pause, too', () => {
    const parted = play(opened(), message('a'), model(1, 0, { kind: 'notStarted' }))
    const { state, commands } = play(parted.state, pause, announced(parted, 'resume'))
    expect([status(state), types(commands)]).toEqual(['paused', ['announce']])
  })

  it('is not needed by a session that runs', () => {
    expect(play(opened(), resume).commands).toEqual([])
  })

  it('opens a session again that could not be opened', () => {
    const failed = play(
      initialState({ sessionId: 's-1', label: 'demo' }),
      { type: 'runStarted' },
      { type: 'sessionOpened', outcome: { kind: 'failed', pause: bad } },
      message('a'),
    )
    const resuming = play(failed.state, resume)
    const resumed = play(resuming.state, announced(resuming, 'resume'))
    expect(types(resumed.commands)).toEqual(['openSession'])
    expect(types(play(resumed.state, open()).commands)).toEqual(['callModel'])
  })
})
