/** What a chat makes of the events of a session. */
import { describe, expect, it } from 'vitest'
import type { StelloEvent } from '../../../../src/client/index.ts'
import {
  NEW_CONVERSATION,
  conversation,
  recordItem,
  type Conversation,
  type Told,
} from '../../../../src/cli/chat/chat-conversation.ts'

let offset = 0

/** A durable event; with `step`, a live one. */
function event(type: StelloEvent['type'], data: object): StelloEvent {
  const place = 'step' in data ? {} : { offset: offset++ }
  return { sessionId: 's', at: new Date(1000), cursor: '', type, data, ...place } as unknown as StelloEvent
}

const after = (...happened: (StelloEvent | Told)[]): Conversation => happened.reduce(conversation, NEW_CONVERSATION)
const started = event('turn.started', { turn: 1, messageId: 'a', seq: 1, text: 'hello' })
const delta = (text: string, attempt = 1): StelloEvent => event('message.delta', { text, step: 'm1.0', attempt })
const answer = (text: string, calls: object[] = []): StelloEvent =>
  event('message.completed', {
    turn: 1,
    round: 0,
    seq: 2,
    text,
    calls,
    usage: { inputTokens: 3, outputTokens: 2 },
    model: 'm',
  })
const call = { callId: 'c', name: 'look', arguments: '{"at":"the sky"}' }
const doing = (attempt: number): StelloEvent =>
  event('tool.status', { callId: 'c', name: 'look', status: 'DOING', step: 't1.0.0', attempt })
const done = event('tool.status', {
  callId: 'c',
  name: 'look',
  status: 'SUCCESS',
  turn: 1,
  seq: 3,
  durationMs: 5,
  result: 'blue',
})
const notes = ({ items }: Conversation): string[] => items.flatMap((item) => (item.kind === 'note' ? [item.text] : []))

describe('an answer', () => {
  it('streams, and is an item once it is complete', () => {
    const half = after(started, delta('Hi '), delta('there'))
    expect(half.stream?.text).toBe('Hi there')
    expect(half.items).toEqual([{ kind: 'message', text: 'hello' }])
    const whole = conversation(half, answer('Hi there'))
    expect(whole.stream).toBeUndefined()
    expect(whole.items.at(-1)).toEqual({ kind: 'answer', text: 'Hi there' })
    expect(whole).toMatchObject({ model: 'm', totals: { turns: 1, modelCalls: 1, inputTokens: 3, outputTokens: 2 } })
  })

  it('of a later try replaces what an earlier one has streamed, which is told; the earlier one says no more', () => {
    const taken = after(started, delta('One two', 1), delta('Uno', 2), delta(' three', 1))
    expect(taken.stream?.text).toBe('Uno')
    expect(notes(taken)).toEqual(['the model is asked again (try 2): the try before did not come to its end'])
  })

  it('that the weather has held up is told once, with the weather', () => {
    const waiting = event('model.waiting', { turn: 1, round: 0, provider: 'p', why: '503', nextTryMs: 5000 })
    const state = after(started, delta('One', 1), waiting)
    expect(state.weather?.nextTry).toEqual(new Date(6000))
    expect(
      notes(conversation(state, event('model.started', { model: 'm', round: 0, step: 'm1.0', attempt: 2 }))),
    ).toHaveLength(1)
  })

  it('that a tool ends the turn with is shown, once', () => {
    const over = event('turn.completed', { turn: 1, stopReason: 'completed', text: 'All done' })
    expect(after(started, over).items.at(-1)).toEqual({ kind: 'answer', text: 'All done' })
    expect(after(started, answer('All done, really'), over).items).toHaveLength(2)
  })
})

describe('a call', () => {
  it('shows its arguments as they come, runs, and is an item with its result', () => {
    const streaming = event('tool.status', {
      callId: 'c',
      name: 'look',
      status: 'WAIT',
      params: { at: 'the' },
      step: 'm1.0',
      attempt: 1,
    })
    expect(after(streaming).cards).toMatchObject([{ name: 'look', params: { at: 'the' }, status: 'WAIT' }])
    const asked = after(answer('', [call]))
    expect(asked.cards).toMatchObject([{ params: { at: 'the sky' }, status: 'WAIT' }])
    const ended = [doing(1), done].reduce(conversation, asked)
    expect(ended.cards).toEqual([])
    expect(ended.items).toMatchObject([{ kind: 'call', card: { params: { at: 'the sky' }, result: 'blue', seq: 3 } }])
  })

  it('that a dead worker has begun is told when another one takes it over', () => {
    expect(notes(after(answer('', [call]), doing(1), doing(2)))).toEqual([
      'look is taken over (try 2): its worker did not end it',
    ])
  })

  it('that runs on after an answer of a person is not taken over', () => {
    const closed = event('pending.closed', {
      id: 'i',
      kind: 'approval',
      name: 'look',
      callId: 'c',
      turn: 1,
      decision: 'approve',
    })
    expect(notes(after(answer('', [call]), doing(1), closed, doing(2)))).toEqual(['look: approve'])
  })

  it('that an earlier try of the model has asked for is gone', () => {
    const streaming = event('tool.status', { callId: 'c', name: 'look', status: 'WAIT', step: 'm1.0', attempt: 1 })
    expect(after(streaming, delta('again', 2)).cards).toEqual([])
  })
})

describe('a message', () => {
  it('waits until its turn begins', () => {
    const sent = after(started, { told: 'sent', messageId: 'b', text: 'next' })
    expect(sent.queue).toEqual([{ messageId: 'b', text: 'next' }])
    expect(conversation(sent, event('turn.started', { turn: 2, messageId: 'b', seq: 4, text: 'next' })).queue).toEqual(
      [],
    )
  })

  it('that the session refuses waits no longer, and is told', () => {
    const refused = after(
      { told: 'sent', messageId: 'b', text: 'n' },
      event('message.rejected', { reason: 'full', preview: 'n', messageId: 'b' }),
    )
    expect(refused.queue).toEqual([])
    expect(notes(refused).join()).toContain('full')
  })
})

it('a pause says why and what helps, and ends with a resume', () => {
  const state = after(
    started,
    event('session.paused', { reason: 'model_error', message: 'no key', hint: 'set OPENAI_API_KEY' }),
  )
  expect(notes(state).join('\n')).toMatch(/no key[^]*set OPENAI_API_KEY; \/resume goes on/)
  expect(state.paused).toBeDefined()
  expect(conversation(state, event('session.resumed', {})).paused).toBeUndefined()
})

it('a turn that is cancelled leaves nothing live behind, and says so', () => {
  const state = after(
    started,
    delta('Hal'),
    answer('', [call]),
    event('turn.completed', { turn: 1, stopReason: 'cancelled', text: '' }),
  )
  expect(state).toMatchObject({ cards: [], items: [{}, { text: 'the turn has ended: it was cancelled' }] })
  expect(state.turn).toBeUndefined()
  expect(state.stream).toBeUndefined()
})

it('a fork is told when it opens', () => {
  const forked = event('session.forked', { child: 'tea-1', label: 'tea', awaited: true, profile: 'short' })
  expect(after(forked).items).toMatchObject([
    { kind: 'fork', child: 'tea-1', label: 'tea', profile: 'short', awaited: true },
  ])
})

it('a record shows the calls that it asks for, also where it says nothing', () => {
  const toolCalls = [{ id: 'c', name: 'look', arguments: '{"at":1}' }]
  expect(recordItem({ role: 'assistant', content: '', toolCalls })).toEqual({
    kind: 'record',
    role: 'assistant',
    text: '→ look {"at":1}',
  })
})
