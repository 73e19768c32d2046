/** Events and records of a session as they come over HTTP, for tests of the page. */
import type { WebEvent } from '../../../src/web/conversation/conversation-state.ts'
import type { DurableEvents, LiveEvents } from '../../../src/protocol/events.ts'

const AT = '2026-01-01T00:00:00.000Z'

export function durable<Type extends keyof DurableEvents>(
  offset: number,
  type: Type,
  data: DurableEvents[Type],
): WebEvent {
  return { sessionId: 's', at: AT, cursor: `{"s":${offset + 1}}`, offset, type, data } as unknown as WebEvent
}

export function live<Type extends keyof LiveEvents>(
  [step, attempt]: [string, number],
  type: Type,
  data: LiveEvents[Type],
): WebEvent {
  return { sessionId: 's', at: AT, cursor: '{}', type, data: { ...data, step, attempt } } as unknown as WebEvent
}

/** One turn: a question, a call, its result, an answer. Six durable events. */
export const TURN: readonly WebEvent[] = [
  durable(0, 'turn.started', { turn: 1, messageId: 'q1', seq: 1, text: 'how are you?' }),
  durable(1, 'message.completed', {
    turn: 1,
    round: 0,
    seq: 2,
    text: 'let me see',
    calls: [{ callId: 'c1', name: 'look', arguments: '{"at":"me"}' }],
    usage: { inputTokens: 10, outputTokens: 2 },
    model: 'm',
  }),
  durable(2, 'tool.status', {
    callId: 'c1',
    name: 'look',
    status: 'SUCCESS',
    turn: 1,
    seq: 3,
    durationMs: 5,
    result: 'fine',
  }),
  durable(3, 'session.forked', { child: 's-2', label: 'other', awaited: false }),
  durable(4, 'message.completed', {
    turn: 1,
    round: 1,
    seq: 4,
    text: 'I am fine',
    calls: [],
    usage: { inputTokens: 20, outputTokens: 3, costUsd: 0.5 },
    model: 'm',
  }),
  durable(5, 'turn.completed', { turn: 1, stopReason: 'end_turn', text: 'I am fine' }),
]
