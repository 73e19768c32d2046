import { describe, expect, it } from 'vitest'
import type { Pause } from '../../../src/core/pause.ts'
import type { CompactOutcome } from '../../../src/protocol/steps.ts'
import type { Input } from '../../../src/session/inputs.ts'
import { initialState, status } from '../../../src/session/state.ts'
import {
  announced,
  asks,
  cancel,
  child,
  message,
  model,
  only,
  open,
  opened,
  pause,
  play,
  rests,
  resume,
} from './play.ts'
import { callRef, tool, types } from './play.ts'

const away = (nextTryAt: string): Pause => ({ reason: 'model_error', message: 'away', clears: 'weather', nextTryAt })
const fails = (round: number, nextTryAt: string): Input => model(1, round, { kind: 'failed', pause: away(nextTryAt) })
const due = (at: string): Input => ({ type: 'tryDue', at })

/** A session whose model is away; it tries again at `one`. */
const waiting = () => play(opened(), message('a'), fails(0, 'one'))

describe('a pause that ends by itself', () => {
  it('promises a try, and says so to the store and to watchers', () => {
    const { commands } = waiting()
    expect(only(commands, 'tryAgain')).toEqual([{ type: 'tryAgain', at: 'one' }])
    expect(only(commands, 'announce')).toMatchObject([
      { input: { pause: { nextTryAt: 'one' }, events: [{ type: 'session.paused', data: { nextTryAt: 'one' } }] } },
    ])
  })

  it('is over at its time: the step that failed is tried, and knows that it is a try', () => {
    const trying = play(waiting().state, due('one'))
    expect(trying.commands).toMatchObject([
      { tag: 'resume', input: { pause: null, events: [{ type: 'session.resumed', data: { tries: 1 } }] } },
    ])
    const { commands, state } = play(trying.state, announced(trying, 'resume'))
    expect(commands).toMatchObject([{ type: 'callModel', input: { key: 'm1.0', tries: 1 } }])
    expect(status(state)).toBe('running')
  })

  it('counts the tries in a row, until one is answered', () => {
    const first = play(waiting().state, due('one'))
    const second = play(play(first.state, announced(first, 'resume'), fails(0, 'two')).state, due('two'))
    const asked = play(second.state, announced(second, 'resume'))
    expect(only(asked.commands, 'callModel')[0]?.input.tries).toBe(2)
    const next = play(asked.state, rests(1, 0, 2), message('b'))
    expect(only(next.commands, 'callModel')[0]?.input).not.toHaveProperty('tries')
  })

  it('counts the tries of a compaction between turns, until one is done', () => {
    const compacts = (n: number, outcome: CompactOutcome): Input => ({ type: 'compacted', key: `c${n}`, outcome })
    const failed = (nextTryAt: string): CompactOutcome => ({ kind: 'failed', pause: away(nextTryAt) })
    const first = play(play(opened(), { type: 'compactRequested' }, compacts(1, failed('one'))).state, due('one'))
    const tried = play(first.state, announced(first, 'resume'))
    expect(only(tried.commands, 'compact')[0]?.input.tries).toBe(1)
    const second = play(play(tried.state, compacts(2, failed('two'))).state, due('two'))
    const again = play(second.state, announced(second, 'resume'))
    expect(only(again.commands, 'compact')[0]?.input.tries).toBe(2)
    const usage = { inputTokens: 1, outputTokens: 1 }
    const next = play(again.state, compacts(3, { kind: 'compacted', gen: 0, done: true, usage }), message('a'))
    expect(only(next.commands, 'callModel')[0]?.input).not.toHaveProperty('tries')
  })

  it('that ends with nothing to try says that the session goes on by itself, and counts for no later step', () => {
    const ending = play(waiting().state, cancel, model(1, 0, { kind: 'cancelled', gen: 0 }))
    const trying = play(play(ending.state, announced(ending, 'turnEnd')).state, due('one'))
    expect(only(trying.commands, 'announce')).toMatchObject([{ input: { events: [{ data: { tries: 1 } }] } }])
    const { commands } = play(trying.state, announced(trying, 'resume'), message('b'))
    expect(only(commands, 'callModel')[0]?.input).not.toHaveProperty('tries')
  })

  it('is promised anew by each run, and by a workflow that is started anew', () => {
    const rested = play(waiting().state, { type: 'runStarted' })
    expect(types(rested.commands)).toEqual(['openSession', 'tryAgain'])
    const started = open()
    if (started.type !== 'sessionOpened' || started.outcome.kind !== 'opened') throw new Error('not opened')
    const found: Input = { ...started, outcome: { ...started.outcome, pause: away('one') } }
    const anew = play(initialState({ sessionId: 's-1', label: 'demo' }), { type: 'runStarted' }, found)
    expect(only(anew.commands, 'tryAgain')).toEqual([{ type: 'tryAgain', at: 'one' }])
  })

  it('tries to open a session that could not be opened', () => {
    const failed: Input = { type: 'sessionOpened', outcome: { kind: 'failed', pause: away('one') } }
    const trying = play(initialState({ sessionId: 's-1', label: 'demo' }), { type: 'runStarted' }, failed, due('one'))
    const { commands } = play(trying.state, announced(trying, 'resume'))
    expect(commands).toMatchObject([{ type: 'openSession', input: { tries: 1 } }])
  })

  it('of a fork counts until the fork is opened', () => {
    const fork = callRef('new_task', { route: 'task' })
    const paused = { kind: 'failed', pause: away('one') } as const
    const trying = play(opened(), message('a'), asks(1, 0, 2, fork), tool(1, 0, 0, paused), due('one'))
    const tried = play(trying.state, announced(trying, 'resume'))
    expect(only(tried.commands, 'callTool')[0]?.input.tries).toBe(1)
    const after = play(tried.state, tool(1, 0, 0, { kind: 'childOpened', gen: 0, child: child() }))
    expect(after.state).not.toHaveProperty('tries')
  })

  it.each<[string, Input[]]>([
    ['a resume', [resume]],
    ['a pause by a person', [pause]],
    ['another pause that ends by itself', [resume, { type: 'pauseRequested' }]],
  ])('no longer holds its promise after %s', (_what, inputs) => {
    const changed = play(waiting().state, ...inputs)
    expect(play(changed.state, due('one')).commands).toEqual([])
  })

  it('gives way to a person, and does not go on before the person says so', () => {
    const { state, commands } = play(waiting().state, pause)
    expect(state.pause).toMatchObject({ reason: 'user' })
    expect(only(commands, 'announce')).toMatchObject([{ input: { pause: { reason: 'user' } } }])
    expect(state.pause).not.toHaveProperty('nextTryAt')
  })

  it('keeps its time when another step fails for the same reason', () => {
    const { state, commands } = play(
      opened(),
      message('a'),
      asks(1, 0, 2, callRef('one', { route: 'fork' }), callRef('two', { route: 'fork' })),
      tool(1, 0, 0, { kind: 'failed', pause: away('one') }),
      tool(1, 0, 1, { kind: 'failed', pause: away('two') }),
    )
    expect([state.pause?.nextTryAt, only(commands, 'tryAgain')]).toEqual(['one', [{ type: 'tryAgain', at: 'one' }]])
  })

  it('begins to count anew after a resume by a person', () => {
    const first = play(waiting().state, due('one'))
    const again = play(play(first.state, announced(first, 'resume'), fails(0, 'two')).state, resume)
    const { commands } = play(again.state, announced(again, 'resume'))
    expect(only(commands, 'callModel')[0]?.input).not.toHaveProperty('tries')
  })

  it('of a turn that was cancelled meanwhile makes no try of the next one', () => {
    const stopped = play(waiting().state, cancel, model(1, 0, { kind: 'cancelled', gen: 0 }))
    const ended = play(stopped.state, announced(stopped, 'turnEnd'), due('one'))
    const next = play(ended.state, announced(ended, 'resume'), message('b'))
    expect(only(next.commands, 'callModel')[0]?.input).not.toHaveProperty('tries')
  })
})
