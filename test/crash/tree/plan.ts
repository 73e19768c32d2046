/**
 * What is said to a tree of seven sessions, and what its model does about it. A message carries its own script, so each
 * conversation has one right content, whatever is killed: `S1.3 | look pay | keep` is a round of two calls, a round of
 * one call, and an answer.
 */
import type { Message } from '../../../src/core/message.ts'
import type { FullReply, ReplyToolCall } from '../../../src/testing/index.ts'
import type { Random } from './random.ts'

/** The sessions that are talked to. T1 and T2 are tasks, which end with their answer. */
export const TALKERS = ['R', 'S1', 'S2', 'C1', 'C1a'] as const
export type Talker = (typeof TALKERS)[number]

export interface PlannedMessage {
  id: string
  text: string
  /** Sent twice. The second time must change nothing. */
  twice: boolean
}

export type Plan = Record<Talker, PlannedMessage[]>

/** R forks S1 and awaits T2. T2 forks S2. S1 awaits T1. A client forks C1 off R, and C1 forks C1a. */
const OPENINGS: Partial<Record<Talker, string>> = {
  R: '| fork:S1 | task:T2',
  S1: '| task:T1',
  C1: '| look fork:C1a',
}
/** The messages of the tasks. */
export const TASKS: { T1: string; T2: string } = {
  T1: 'T1.0 | look keep | pay',
  T2: 'T2.0 | look fork:S2 | pay keep',
}

/** Four rounds: one more than the agent allows. */
export const MAX_ROUNDS = 3
const ACTIONS = ['look', 'look', 'look', 'keep', 'keep', 'pay', 'pay', 'hang'] as const

export function makePlan(random: Random, messagesEach: number): Plan {
  const rounds = (): string =>
    Array.from({ length: random.int(0, MAX_ROUNDS + 1) }, () =>
      Array.from({ length: random.int(1, 3) }, () => random.pick(ACTIONS)).join(' '),
    ).join(' | ')
  const say = (talker: Talker, n: number): PlannedMessage => {
    const id = `${talker}.${n}`
    const script = (n === 0 && OPENINGS[talker]) || `| ${rounds()}`
    // At least one of each session, even in a short conversation.
    return { id, text: `${id} ${script}`, twice: random.int(1, 5) === 1 || n === 1 }
  }
  return Object.fromEntries(
    TALKERS.map((talker) => [talker, Array.from({ length: messagesEach }, (_, n) => say(talker, n))]),
  ) as Plan
}

/** The same conversation has the same answer, for every caller and every time. */
export function replyTo(messages: readonly Message[]): FullReply {
  const usage = { inputTokens: 10, outputTokens: 5 }
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const round = messages.slice(asked).filter(({ role }) => role === 'assistant').length
  const [id = '', ...rounds] = (messages[asked]?.content ?? '').split('|').map((part) => part.trim())
  const actions = (rounds[round] ?? '').split(' ').filter((action) => action !== '')
  if (actions.length === 0) return { content: `answer to ${id}`, usage }
  return { toolCalls: actions.map((action, i) => toCall(action, `${id}.${round}.${i}`)), usage }
}

function toCall(action: string, place: string): ReplyToolCall {
  const [name = '', label = ''] = action.split(':')
  switch (name) {
    case 'fork':
      return { name: 'stello_create_session', arguments: { label, context: 'inherit' } }
    case 'task':
      return { name: 'new_task', arguments: { label, message: TASKS[label as keyof typeof TASKS] } }
    default:
      return { name, arguments: { place } }
  }
}

/** The result of the tool `pay` if its worker lives. */
export const paid = (place: string): string => `paid ${place}`
