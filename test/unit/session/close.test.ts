import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { CHILDREN_AT_ONCE, initialState, status } from '../../../src/session/state.ts'
import {
  announced,
  asks,
  bytes,
  cancel,
  close,
  message,
  model,
  only,
  open,
  opened,
  pause,
  play,
  rests,
  tool,
  types,
  type Played,
} from './play.ts'

describe('close', () => {
  it('of an idle session is told to the store, then final', () => {
    const closing = play(opened(), close)
    const { state } = play(closing.state, announced(closing, 'close'))
    expect(state.closed).toBe(true)
    expect(play(state, message('a')).commands).toEqual([])
  })

  it('ends the turn under way first, and the messages that wait', () => {
    const closing = play(opened(), message('a'), message('b', 'later'), close)
    expect(only(closing.commands, 'announce')).toEqual([])
    const ended = play(closing.state, model(1, 0, { kind: 'cancelled', gen: 0 }))
    expect(only(ended.commands, 'announce')).toMatchObject([{ input: { endTurn: { stopReason: 'closed' } } }])
    expect(only(play(ended.state, announced(ended, 'turnEnd')).commands, 'announce')).toMatchObject([
      { tag: 'close', input: { close: { messages: [{ messageId: 'b', text: 'later' }], cascade: false } } },
    ])
  })

  it('is heard once; a later one may widen it to a cascade until the store is told', () => {
    const wider = { type: 'closeRequested', cascade: true } as const
    const closing = play(opened(), message('a'), close, wider, close)
    expect(only(closing.commands, 'cancelSteps')).toHaveLength(1)
    const ended = play(closing.state, model(1, 0, { kind: 'cancelled', gen: 0 }))
    const told = play(ended.state, announced(ended, 'turnEnd'), wider)
    expect(only(told.commands, 'announce').map(({ input }) => input.close?.cascade)).toEqual([true])
    const late = play(opened(), close, wider)
    expect(only(late.commands, 'announce').map(({ input }) => input.close?.cascade)).toEqual([false])
  })

  it('does not wait for a resume', () => {
    const closing = play(opened(), pause, message('a'), close)
    expect(only(closing.commands, 'announce').at(-1)?.tag).toBe('close')
  })

  it('refuses messages, visibly', () => {
    const { commands } = play(play(opened(), close).state, message('late'))
    expect(only(commands, 'announce')[0]?.input.events).toMatchObject([
      { type: 'message.rejected', data: { reason: 'the session is closed' } },
    ])
  })

  it('with cascade closes the children the store knows', () => {
    const closing = play(opened(), { type: 'closeRequested', cascade: true })
    const { state, commands } = play(closing.state, announced(closing, 'close', ['s-2', 's-3']))
    expect(commands).toEqual([{ type: 'closeChildren', children: ['s-2', 's-3'] }])
    expect(state.closed).toBe(true)
  })

  it('tells the store at once if the session may never have been opened, so that the opening need not end', () => {
    const fresh = play(initialState({ sessionId: 's-1', label: 'demo' }), { type: 'runStarted' })
    const closing = play(fresh.state, close, close)
    expect(closing.commands).toMatchObject([{ type: 'announce', tag: 'none', input: { closing: 'unopened' } }])
    const wider = play(closing.state, { type: 'closeRequested', cascade: true })
    expect(wider.commands).toMatchObject([{ type: 'announce', tag: 'none', input: { closing: true } }])
    const again = play(opened(), { type: 'runStarted' })
    expect(play({ ...again.state, turns: 1 }, close).commands).toEqual([])
  })

  it('with cascade tells the store at once, while the turn under way ends, and only once', () => {
    const cascade = { type: 'closeRequested', cascade: true } as const
    for (const before of [[cascade], [close, cascade]]) {
      const closing = play(opened(), message('a'), ...before, cascade)
      expect(only(closing.commands, 'announce')).toMatchObject([{ tag: 'none', input: { closing: true } }])
      expect(only(closing.commands, 'cancelSteps')).toHaveLength(1)
    }
  })

  it.each([
    ['a model call', [message('a'), model(1, 0, { kind: 'notStarted', closing: true })], 'm1.0'],
    ['a call', [message('a'), asks(1, 0, 2, 'Read'), tool(1, 0, 0, { kind: 'notStarted', closing: true })], 't1.0.0'],
  ] as const)('is what a session does by itself when %s finds that it is to close', (_what, events, key) => {
    const { state, commands } = play(opened(), ...events)
    expect(state).toMatchObject({ closing: { cascade: true }, turn: { stopping: 'closed' } })
    expect(state.pause).toBeUndefined()
    const settled = [...only(commands, 'settleModel'), ...only(commands, 'settleTool')]
    expect(settled.map(({ input }) => input.step.key)).toEqual([key])
    expect(only(commands, 'announce')).toMatchObject([{ input: { closing: true } }])
  })

  it.each([
    ['before its first turn', [], undefined],
    ['with messages that wait', [message('a')], 'a'],
  ] as const)('is what a session does that is opened after a cascade came by, %s', (_when, events, messageId) => {
    const fresh = play(initialState({ sessionId: 's-1', label: 'demo' }), { type: 'runStarted' }, ...events)
    const openedAs = open() as Extract<Input, { type: 'sessionOpened' }>
    const { commands } = play(fresh.state, { ...openedAs, outcome: { ...openedAs.outcome, closing: true } as never })
    expect(commands).toMatchObject([
      {
        type: 'announce',
        tag: 'close',
        input: { close: { cascade: true, messages: messageId ? [{ messageId }] : [] } },
      },
    ])
  })

  it('of a session that a cascade has reached passes the cascade on, whoever asked for the close', () => {
    const closing = play(opened(), close)
    const { state, commands } = play(closing.state, announced(closing, 'close', ['s-2']))
    expect(commands).toEqual([{ type: 'closeChildren', children: ['s-2'] }])
    expect(state.closed).toBe(true)
  })

  describe('with cascade of 3,000 children', () => {
    const children = Array.from({ length: 3000 }, (_, i) => `s-${String(i).padStart(5, '0')}`)
    const cascade: Input = { type: 'closeRequested', cascade: true }
    /** The answer of the store to the last announcement. */
    const told = (played: Played): Input => {
      const { after = '' } = only(played.commands, 'announce').at(-1)?.input.close ?? {}
      const open = children.filter((id) => id > after)
      return announced(played, 'close', open.slice(0, CHILDREN_AT_ONCE))
    }
    const batches = (played: Played): string[][] =>
      only(played.commands, 'closeChildren').map((command) => command.children)
    const lastTold = (played: Played): Input => ({
      type: 'childrenTold',
      upTo: batches(played).at(-1)?.at(-1) ?? '',
    })

    it('tells each of them once, one batch after the other, and ends only then', () => {
      const child = { sessionId: 's-1', label: 'demo', awaited: { parentId: 's-0', callKey: 't1.0.0' } }
      let played = play(play(initialState(child), { type: 'runStarted' }, cascade).state, open())
      const all: string[] = []
      for (let batch = 0; batch < 31; batch++) {
        const asked = play(played.state, told(played))
        expect(asked.commands.filter(({ type }) => type !== 'reportToParent').map(({ type }) => type)).toEqual(
          batches(asked).length > 0 ? ['closeChildren'] : [],
        )
        all.push(...batches(asked).flat())
        expect(bytes(asked.commands)).toBeLessThan(64 * 1024)
        expect(bytes(asked.state)).toBeLessThan(8 * 1024)
        if (asked.state.closed) {
          expect(only(asked.commands, 'reportToParent')).toHaveLength(1)
          played = asked
        } else played = play(asked.state, lastTold(asked))
      }
      expect(all).toEqual(children)
    })

    it('goes on in the next run when the history is full', () => {
      const asked = play(
        play(opened(), cascade).state,
        announced(play(opened(), cascade), 'close', children.slice(0, 100)),
      )
      const rested = play({ ...asked.state, resting: true }, lastTold(asked))
      expect(rested.commands).toEqual([])
      const next = play(rested.state, { type: 'runStarted' }, { type: 'sessionOpened', outcome: { kind: 'closed' } })
      expect(next.state.closed).toBe(false)
      expect(only(next.commands, 'announce').at(-1)).toMatchObject({
        tag: 'close',
        input: { events: [], close: { messages: [], cascade: true, limit: CHILDREN_AT_ONCE, after: children[99] } },
      })
    })
  })

  it('tells the children also if the run hears of its own close from the opening first', () => {
    const cascade: Input = { type: 'closeRequested', cascade: true }
    const closing = play(opened(), cascade, { type: 'runStarted' })
    const found: Input = { type: 'sessionOpened', outcome: { kind: 'closed' } }
    const after = play(closing.state, found, announced(closing, 'close', ['s-2']))
    expect(after.commands).toEqual([{ type: 'closeChildren', children: ['s-2'] }])
    expect(after.state.closed).toBe(true)
  })

  it('is not followed by an opening, though a resume was on its way', () => {
    const failed: Input = {
      type: 'sessionOpened',
      outcome: { kind: 'failed', pause: { reason: 'agent_error', message: 'gone' } },
    }
    const fresh = initialState({ sessionId: 's-1', label: 'demo' })
    const resuming = play(fresh, { type: 'runStarted' }, failed, { type: 'resumeRequested' })
    const closing = play(resuming.state, close)
    expect(only(closing.commands, 'announce')).toMatchObject([{ tag: 'close' }])
    expect(play(closing.state, announced(resuming, 'resume')).commands).toEqual([])
  })

  it('ends a session that the store has closed before', () => {
    const { state } = play(opened(), { type: 'runStarted' }, { type: 'sessionOpened', outcome: { kind: 'closed' } })
    expect(status(state)).toBe('closed')
  })
})

describe('a child that is awaited', () => {
  const awaited = { awaited: { parentId: 's-0', callKey: 't4.1.0' }, messages: ['task'] }

  it('reports its first turn and closes', () => {
    const { commands } = play(opened(awaited), rests(1, 0, 2))
    expect(types(commands)).toEqual(['reportToParent', 'announce'])
    expect(only(commands, 'reportToParent')[0]).toMatchObject({
      parentId: 's-0',
      report: { childId: 's-1', childTurn: 1, callKey: 't4.1.0' },
    })
  })

  const begun = play(initialState({ sessionId: 's-1', label: 'demo', ...awaited }), { type: 'runStarted' }).state

  it('reports turn 0 when it closes without an answer', () => {
    const closing = play(begun, close, open())
    const { commands } = play(closing.state, announced(closing, 'close'))
    expect(only(commands, 'reportToParent').map(({ report }) => report.childTurn)).toEqual([0])
  })

  it('closes when it is cancelled before its turn began', () => {
    const { commands } = play(begun, cancel, open())
    expect(only(commands, 'announce').map(({ tag }) => tag)).toEqual(['close'])
  })

  it('reports turn 0 and closes when its task cannot be read', () => {
    const outcome = { kind: 'duplicate', gen: 0, reason: 'message task has no text' } as const
    const closing = play(opened(awaited), model(1, 0, outcome))
    const { state, commands } = play(closing.state, announced(closing, 'close'))
    expect(only(commands, 'reportToParent').map(({ report }) => report.childTurn)).toEqual([0])
    expect(state.closed).toBe(true)
  })

  it('reports once', () => {
    const answered = play(opened(awaited), rests(1, 0, 2))
    const { commands } = play(answered.state, announced(answered, 'close'))
    expect(only(commands, 'reportToParent')).toEqual([])
  })
})
