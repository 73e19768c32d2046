/** The conversation on the page, told in every order that a lost connection may give. */
import { describe, expect, it } from 'vitest'
import type { Conversation, WebEvent } from '../../../src/web/conversation/conversation-state.ts'
import { connected, emptyConversation, withEvents } from '../../../src/web/conversation/conversation.ts'
import type { AnswerEntry, Card } from '../../../src/web/conversation/entries.ts'
import { withRecords, type WebRecord } from '../../../src/web/conversation/with-records.ts'
import { durable, live, TURN } from './told.ts'

function told(...batches: (readonly WebEvent[])[]): Conversation {
  return batches.reduce<Conversation>((before, batch) => withEvents(before, batch), emptyConversation('s'))
}

/** One line for each entry. */
function lines({ entries }: Conversation): string[] {
  return entries.map((entry) => {
    if (entry.kind === 'note') return `(${entry.note.is})`
    return entry.kind === 'message' ? `> ${entry.text}` : `< ${entry.text}${entry.cards.map(cardLine).join('')}`
  })
}

function cardLine({ name, status, result }: Card): string {
  return ` [${name} ${status}${result === undefined ? '' : ` ${JSON.stringify(result)}`}]`
}

const WHOLE = ['> how are you?', '< let me see [look SUCCESS "fine"]', '(forked)', '< I am fine', '(turnEnded)']
const ASKED = TURN.slice(0, 1)
const CALLED = TURN.slice(0, 2)

function cardOf(conversation: Conversation): Card | undefined {
  return conversation.entries.find((entry): entry is AnswerEntry => entry.kind === 'answer')?.cards[0]
}

describe('a conversation', () => {
  it('is the same in whatever batches its events come, and however often they are told', () => {
    expect(lines(told(TURN))).toEqual(WHOLE)
    for (let cut = 0; cut <= TURN.length; cut++) {
      const again = told(TURN.slice(0, cut), TURN.slice(Math.max(0, cut - 2)), TURN)
      expect(again.entries).toEqual(told(TURN).entries)
      expect(again.usage).toEqual({ inputTokens: 30, outputTokens: 5, costUsd: 0.5 })
    }
  })

  it('is the same whether a record comes before its event or after', () => {
    const records: WebRecord[] = [
      { seq: 1, at: '', message: { role: 'user', content: 'how are you?' } },
      {
        seq: 2,
        at: '',
        message: { role: 'assistant', content: 'let me see', toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }] },
      },
      { seq: 3, at: '', message: { role: 'tool', content: 'fine, all of it', toolCallId: 'c1' } },
      { seq: 4, at: '', message: { role: 'assistant', content: 'I am fine', model: 'm' } },
    ]
    for (let cut = 0; cut <= TURN.length; cut++) {
      const before = withRecords(told(TURN.slice(0, cut)), records, 0)
      const whole = withEvents(before, TURN)
      expect(lines(whole)).toEqual(WHOLE)
      expect(cardOf(whole)).toMatchObject({ arguments: '{}', content: 'fine, all of it', durationMs: 5 })
    }
  })

  it('tells a call what happened to it, also if a later call of the same id is in a record that came first', () => {
    const usage = { inputTokens: 1, outputTokens: 1 }
    const answered = { turn: 1, text: '', calls: [{ callId: 'c', name: 'look', arguments: '{}' }], usage, model: 'm' }
    const events = [
      ...ASKED,
      durable(1, 'message.completed', { ...answered, round: 0, seq: 2 }),
      durable(2, 'session.forked', { child: 's-2', label: 'of the first', awaited: true, callId: 'c' }),
      durable(3, 'tool.update', { callId: 'c', name: 'look', update: 'half' }),
      durable(4, 'message.completed', { ...answered, round: 1, seq: 4 }),
    ]
    const toolCalls = [{ id: 'c', name: 'look', arguments: '{}' }]
    const records = [2, 4].map((seq): WebRecord => {
      return { seq, at: '', message: { role: 'assistant', content: '', toolCalls } }
    })
    const whole = withEvents(withRecords(emptyConversation('s'), records, 1), events)
    const answers = whole.entries.filter((entry): entry is AnswerEntry => entry.kind === 'answer')
    expect(answers.map(({ cards }) => cards[0]?.children.length)).toEqual([1, 0])
    expect(answers.map(({ cards }) => Object.values(cards[0]?.updates ?? {}))).toEqual([['half'], []])
  })

  it('shows what streams until its record replaces it', () => {
    const streams = told(
      ASKED,
      [live(['m1.0', 1], 'message.delta', { text: 'let ' })],
      [live(['m1.0', 1], 'message.delta', { text: 'me' })],
    )
    expect(streams.streaming).toMatchObject([{ text: 'let me', restarts: 0 }])
    const after = withEvents(streams, TURN.slice(1, 2))
    expect(after.streaming).toEqual([])
    expect(withEvents(after, [live(['m1.0', 1], 'message.delta', { text: ' late' })]).streaming).toEqual([])
  })

  it('begins a text again with a new attempt, and hears no earlier one', () => {
    const streams = told(ASKED, [
      live(['m1.0', 1], 'message.delta', { text: 'one' }),
      live(['m1.0', 2], 'message.delta', { text: 'two' }),
      live(['m1.0', 1], 'message.delta', { text: 'late' }),
    ])
    expect(streams.streaming).toMatchObject([{ text: 'two', attempt: 2, restarts: 1 }])
  })

  it('begins a text again on a new connection, and shows the old one until then', () => {
    const before = connected(told(ASKED, [live(['m1.0', 1], 'message.delta', { text: 'let me' })]))
    expect(before.streaming).toMatchObject([{ text: 'let me' }])
    const after = withEvents(before, [
      live(['m1.0', 1], 'message.delta', { text: 'let ' }),
      live(['m1.0', 1], 'message.delta', { text: 'me see' }),
    ])
    expect(after.streaming).toMatchObject([{ text: 'let me see', restarts: 0 }])
  })

  it('keeps what the model thought while somebody looked', () => {
    const after = told(ASKED, [live(['m1.0', 1], 'reasoning.delta', { text: 'hm' })], TURN.slice(1))
    expect(after.entries[1]).toMatchObject({ reasoning: 'hm' })
  })

  it('fills the card of a call in while its arguments stream, runs it and ends it', () => {
    const card = { callId: 'c1', name: 'look' }
    const waits = told(ASKED, [live(['m1.0', 1], 'tool.status', { ...card, status: 'WAIT', params: { at: 'm' } })])
    expect(waits.streaming[0]?.cards).toMatchObject([{ status: 'WAIT', params: { at: 'm' } }])
    const runs = withEvents(waits, [
      ...CALLED,
      live(['t1.0.0', 1], 'tool.status', { ...card, status: 'DOING', showTip: 'looking' }),
      live(['t1.0.0', 1], 'tool.update', { ...card, update: { progress: { progress: 1, total: 3 } } }),
    ])
    expect(cardOf(runs)).toMatchObject({ status: 'DOING', showTip: 'looking', updates: { progress: { total: 3 } } })
    expect(cardOf(withEvents(runs, TURN))).toMatchObject({ status: 'SUCCESS', durationMs: 5 })
  })

  it('says that another worker has taken a call over, and forgets what the first one told', () => {
    const card = { callId: 'c1', name: 'look' }
    const taken = told(CALLED, [
      live(['t1.0.0', 1], 'tool.update', { ...card, update: { output: 'half' } }),
      live(['t1.0.0', 2], 'tool.status', { ...card, status: 'DOING' }),
      live(['t1.0.0', 1], 'tool.update', { ...card, update: { output: 'late' } }),
    ])
    expect(cardOf(taken)).toMatchObject({ attempt: 2, restarts: 1, updates: {} })
    const ended = withEvents(taken, [...TURN, live(['t1.0.0', 3], 'tool.status', { ...card, status: 'DOING' })])
    expect(cardOf(ended)).toMatchObject({ status: 'SUCCESS' })
  })

  it('takes the first attempt that it hears for no restart, whatever its number', () => {
    const card = { callId: 'c1', name: 'look', status: 'DOING' } as const
    const runs = told(CALLED, [live(['t1.0.0', 359], 'tool.status', card), live(['t1.0.0', 359], 'tool.status', card)])
    expect(cardOf(runs)?.restarts).toBe(0)
    expect(cardOf(withEvents(runs, [live(['t1.0.0', 360], 'tool.status', card)]))?.restarts).toBe(1)
  })

  it('tells that a worker was lost, also to somebody who looks later', () => {
    const taken = { key: 't1.0.0', kind: 'tool', name: 'look', worker: 'w1', begunAt: '' } as const
    const after = told([...CALLED, durable(2, 'step.taken_over', taken)])
    expect(after.entries.at(-1)).toMatchObject({ note: { is: 'takenOver', name: 'look', worker: 'w1' } })
  })

  it('stops what has not ended when its turn ends', () => {
    const ended = told(CALLED, [durable(2, 'turn.completed', { turn: 1, stopReason: 'cancelled', text: '' })])
    expect(cardOf(ended)?.status).toBe('STOPPED')
    expect(ended.turn).toBeUndefined()
  })

  it('shows a question at its call until it is answered', () => {
    const item = { id: 'i', kind: 'approval', name: 'look', callId: 'c1', turn: 1 } as const
    const asks = { ...item, round: 0, preview: '{}', message: 'may it?', at: '' }
    const open = told(CALLED, [durable(2, 'pending.opened', asks)])
    expect(open.pending).toHaveLength(1)
    expect(cardOf(open)?.pending?.message).toBe('may it?')
    const closed = withEvents(open, [durable(3, 'pending.closed', { ...item, decision: 'approve' })])
    expect(closed.pending).toEqual([])
    expect(cardOf(closed)).toMatchObject({ answered: 'approve' })
    expect(cardOf(closed)?.pending).toBeUndefined()
  })

  it('drops what a rewind has abandoned, keeps the forks of clients, and goes on', () => {
    const back = withEvents(told(TURN), [durable(6, 'session.rewound', { generation: 1, seq: 2, turn: 1 })])
    expect(lines(back)).toEqual(['> how are you?', '< let me see [look WAIT]', '(forked)', '(wentBack)'])
    expect(back.turn?.n).toBe(1)
    const streams = withEvents(back, [live(['m1.1', 1], 'message.delta', { text: 'anew' })])
    expect(streams.streaming).toMatchObject([{ text: 'anew' }])
  })

  it('tells a session that is paused from one that goes on', () => {
    const paused = told(TURN, [durable(6, 'session.paused', { reason: 'user', message: 'lunch' })])
    expect(paused.pause?.message).toBe('lunch')
    expect(withEvents(paused, [durable(7, 'session.resumed', {})]).pause).toBeUndefined()
  })

  it('puts inherited records first, whatever numbers they have in the sessions that own them', () => {
    const inherited = withRecords(
      told(TURN),
      [
        { seq: 7, at: '', message: { role: 'user', content: 'before' }, inheritedFrom: 'planner' },
        { seq: 1, at: '', message: { role: 'assistant', content: 'long ago' }, inheritedFrom: 'root' },
      ],
      0,
    )
    expect(lines(inherited)).toEqual(['> before', '< long ago', ...WHOLE])
    expect(inherited.entries[0]?.inheritedFrom).toBe('planner')
  })

  it('counts the tokens of each turn', () => {
    const end = told(TURN).entries.at(-1)
    expect(end).toMatchObject({ note: { usage: { inputTokens: 30, outputTokens: 5 }, rounds: 2 } })
  })

  it('passes over events of other sessions', () => {
    const other = { ...(TURN[0] as WebEvent), sessionId: 'another' } as WebEvent
    expect(told([other]).entries).toEqual([])
  })
})
