import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { initialState, status } from '../../../src/session/state.ts'
import type { ModelOutcome } from '../../../src/protocol/steps.ts'
import type { Pause } from '../../../src/core/pause.ts'
import {
  LIMITS,
  announced,
  asks,
  child,
  message,
  model,
  only,
  open,
  opened,
  pause,
  play,
  result,
  resume,
  tool,
  types,
  usage,
} from './play.ts'

const found = (gen: number, seq: number, turn: number, more: { unanswered?: string; pause?: Pause } = {}): Input => ({
  type: 'sessionOpened',
  outcome: { kind: 'opened', gen, seq, turn, limits: LIMITS, model: { name: 'gpt-x', timeoutMs: 42_000 }, ...more },
})
const gens = (played: ReturnType<typeof play>): (number | undefined)[] => [
  played.state.gen,
  only(played.commands, 'callModel').at(-1)?.input.gen,
]

describe('a run of a session that somebody has paused before its workflow was lost', () => {
  const begun = initialState({ sessionId: 's-1', label: 'demo' })
  const paused = found(1, 4, 2, { pause: { reason: 'user', message: 'lunch' } })

  it('begins nothing until it is resumed', () => {
    const held = play(begun, { type: 'runStarted' }, message('a'), paused)
    expect([status(held.state), types(held.commands)]).toEqual(['paused', ['openSession']])
    const resuming = play(held.state, resume)
    expect(types(play(resuming.state, announced(resuming, 'resume')).commands)).toEqual(['callModel'])
  })

  it.each(['while the resume is told', 'after the resume was told'])(
    'is resumed by a resume that comes before the session is opened; the store hears of it %s',
    (when) => {
      const resuming = play(begun, { type: 'runStarted' }, message('a'), resume)
      const told = announced(resuming, 'resume')
      const { state, commands } = play(resuming.state, ...(when.startsWith('while') ? [paused, told] : [told, paused]))
      expect([status(state), types(commands).at(-1)]).toEqual(['running', 'callModel'])
    },
  )

  it('is paused by a pause that comes after such a resume', () => {
    const resuming = play(begun, { type: 'runStarted' }, resume)
    const { state } = play(
      resuming.state,
      announced(resuming, 'resume'),
      { type: 'pauseRequested', message: 'tea' },
      paused,
    )
    expect(state.pause?.message).toBe('tea')
    expect(play(state, { type: 'runStarted' }, open()).state.pause?.message).toBe('tea')
  })
})

describe('a run', () => {
  it('goes on from what the store knows', () => {
    const fresh = play(initialState({ sessionId: 's-1', label: 'demo' }), { type: 'runStarted' }, found(2, 7, 3))
    expect(fresh.state).toMatchObject({ gen: 2, model: { name: 'gpt-x', timeoutMs: 42_000 } })
    expect(only(play(fresh.state, message('a')).commands, 'callModel')).toMatchObject([
      { input: { key: 'm4.0', gen: 2, base: 7, upTo: 8 } },
    ])
  })

  it('takes up the turn that an earlier workflow left open, before the messages that it was started with, each once', () => {
    const fresh = initialState({ sessionId: 's-1', label: 'demo', messages: ['b', 'a'] })
    const { state, commands } = play(fresh, { type: 'runStarted' }, found(1, 4, 2, { unanswered: 'a' }))
    expect(only(commands, 'callModel')).toMatchObject([{ input: { key: 'm3.0', opening: { messageId: 'a' } } }])
    expect(state.queue).toEqual([{ messageId: 'b' }])
    expect(play(state, message('a'), message('b')).state.queue).toEqual(state.queue)
  })

  it('of a task that was answered before its workflow was lost reports the answer and closes', () => {
    const fresh = initialState({ sessionId: 's-1', label: 'demo', awaited: { parentId: 's-0', callKey: 't1.0.0' } })
    const { commands } = play(fresh, { type: 'runStarted' }, found(1, 2, 1))
    expect(only(commands, 'reportToParent')).toMatchObject([
      { parentId: 's-0', report: { childGen: 1, childTurn: 1, callKey: 't1.0.0' } },
    ])
    expect(only(commands, 'announce')).toMatchObject([{ tag: 'close' }])
  })

  it('of a task that was answered reports that answer, although other messages wait', () => {
    const child = { sessionId: 's-1', label: 'demo', awaited: { parentId: 's-0', callKey: 't1.0.0' }, messages: ['b'] }
    const { commands } = play(initialState(child), { type: 'runStarted' }, message('c'), found(1, 2, 1))
    expect(types(commands)).toEqual(['openSession', 'reportToParent', 'announce'])
    expect(only(commands, 'reportToParent')[0]?.report).toMatchObject({ childTurn: 1 })
    expect(only(commands, 'announce')[0]?.input.close?.messages.map(({ messageId }) => messageId)).toEqual(['b', 'c'])
  })

  it.each([
    ['cancelled', { type: 'cancelRequested', early: true }],
    ['closed', { type: 'closeRequested', cascade: false }],
  ] as const)('of a task that was answered reports that answer, although it is %s before the opening', (_how, stop) => {
    const child = { sessionId: 's-1', label: 'demo', awaited: { parentId: 's-0', callKey: 't1.0.0' } }
    const played = play(initialState(child), { type: 'runStarted' }, stop, found(1, 2, 1))
    const { commands } = play(played.state, announced(played, 'close'))
    expect(only([...played.commands, ...commands], 'reportToParent').map(({ report }) => report.childTurn)).toEqual([1])
  })

  it('of a task that is left with nothing to answer closes, and tells its parent so', () => {
    const child = { sessionId: 's-1', label: 'demo', awaited: { parentId: 's-0', callKey: 't1.0.0' } }
    const closing = play(initialState(child), { type: 'runStarted' }, found(1, 0, 0))
    expect(types(closing.commands)).toEqual(['openSession', 'announce'])
    const { commands } = play(closing.state, announced(closing, 'close'))
    expect(only(commands, 'reportToParent').map(({ report }) => report.childTurn)).toEqual([0])
  })

  it('of a task whose turn was lost takes it up, and reports nothing before', () => {
    const child = { sessionId: 's-1', label: 'demo', awaited: { parentId: 's-0', callKey: 't1.0.0' }, messages: ['a'] }
    const { commands } = play(initialState(child), { type: 'runStarted' }, found(1, 2, 1, { unanswered: 'a' }))
    expect(types(commands)).toEqual(['openSession', 'callModel'])
  })

  it('of a workflow that was started anew is fresh until one of its runs is opened', () => {
    const pause = { reason: 'agent_error', message: 'no such profile' } as const
    const failed: Input = { type: 'sessionOpened', outcome: { kind: 'failed', pause } }
    const begun = initialState({ sessionId: 's-1', label: 'demo' })
    const next = play(begun, { type: 'runStarted' }, failed, { type: 'runFilled' }, { type: 'runStarted' }).state
    expect(next.fresh).toBe(true)
    const known = play(next, found(1, 4, 2, { unanswered: 'a' })).state
    expect(play(known, { type: 'runStarted' }, failed, { type: 'runStarted' }).state).not.toHaveProperty('fresh')
  })

  it('tells with each step where it stands, so that a rewound run is known to branch there', () => {
    const asking = play(opened(), message('a'))
    const calling = play(asking.state, asks(1, 0, 2, 'Read'))
    expect(only(asking.commands, 'callModel')[0]?.input.place).toEqual({ seq: 1, told: 0, round: 0, asking: true })
    expect(only(calling.commands, 'callTool')[0]?.input.place).toEqual({ seq: 3, told: 0, round: 0 })
    expect(only(play(opened(), pause).commands, 'announce')[0]?.input.place).toMatchObject({ seq: 0, told: 0 })
  })

  it('keeps the numbers that it has given out, even if the store knows less', () => {
    const asking = play(opened(), message('a')).state
    expect(play(asking, { type: 'runStarted' }, found(0, 0, 0)).state).toMatchObject({ seq: 1, turns: 1 })
  })

  it('begins nothing before the store has answered', () => {
    const { commands } = play(opened(), { type: 'runStarted' }, message('a'))
    expect(types(commands)).toEqual(['openSession'])
  })

  it('takes the first answer of the store, even if a resume made it ask twice', () => {
    const resuming = play(opened(), pause, { type: 'runStarted' }, resume)
    const twice = play(resuming.state, announced(resuming, 'resume'), open())
    expect(only(twice.commands, 'openSession')).toHaveLength(1)
    expect(play(twice.state, found(0, 9, 9)).state).toEqual(twice.state)
  })

  it('that is about to continue as new begins no turn, round or call, but takes answers', () => {
    const resting = { ...opened(), resting: true as const }
    expect(play(resting, message('a')).commands).toEqual([])
    const asking = { ...play(opened(), message('a')).state, resting: true as const }
    const asked = play(asking, asks(1, 0, 2, 'Read'))
    expect(asked.commands).toEqual([])
    const next = play(asked.state, { type: 'runStarted' }, open())
    expect(types(next.commands)).toEqual(['openSession', 'callTool'])
  })
})

describe('a new generation is learned from', () => {
  const asked = play(opened(), message('a'), asks(1, 0, 2, 'Read')).state
  const resting: ModelOutcome = {
    kind: 'answered',
    gen: 4,
    seq: 2,
    calls: [],
    text: '',
    usage,
    stopReason: 'end_turn',
  }

  it.each([
    ['an answer of the model', play(play(opened(), message('a')).state, model(1, 0, resting), message('b'))],
    [
      'a message the store knew',
      play(opened(), message('a'), model(1, 0, { kind: 'duplicate', gen: 4 }), message('b')),
    ],
    ['the result of a tool', play(asked, tool(1, 0, 0, result({ gen: 4 })))],
    [
      'a child that was opened',
      play(asked, tool(1, 0, 0, { kind: 'childOpened', gen: 4, child: child(), result: result({ gen: 4 }) })),
    ],
    [
      'the answer to an announcement',
      play(opened(), { type: 'announced', key: 'a1', tag: 'pause', outcome: { gen: 4, children: [] } }, message('a')),
    ],
  ])('%s', (_what, played) => {
    expect(gens(played)).toEqual([4, 4])
  })
})
