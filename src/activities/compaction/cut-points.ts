/**
 * Finds the places where a transcript may be cut in two, so that a summary can stand for the first half. None is inside a tool
 * exchange: every
 * call that stays has its result, and every result its call. Pure.
 */
import type { Message } from '../../core/message.ts'
import { messageTokens } from '../model/token-estimate.ts'

/**
 * The indexes of messages that may be the first to stay: a user's message, or the answer after a finished round.
 *
 * @example cutPoints([user, assistant, user, assistant]) // [2]
 */
export function cutPoints(messages: readonly Message[]): number[] {
  const points: number[] = []
  let open = 0
  for (const [index, { role, toolCalls = [] }] of messages.entries()) {
    const afterRound = role === 'assistant' && messages[index - 1]?.role === 'tool'
    if (index > 0 && open === 0 && (role === 'user' || afterRound)) points.push(index)
    if (role === 'assistant') open = toolCalls.length
    else if (role === 'tool') open = Math.max(0, open - 1)
    else open = 0
  }
  return points
}

/**
 * Chooses where to cut. The turn that is under way stays whole, unless it alone takes far more than may stay.
 *
 * @param keep how many tokens may stay
 * @returns index of the first message that stays; undefined if there is no place
 */
export function chooseCut(messages: readonly Message[], keep: number): number | undefined {
  const points = cutPoints(messages)
  const rest = tailTokens(messages)
  const fits = (index: number): boolean => (rest[index] ?? 0) <= keep
  const turn = points.findLast((index) => messages[index]?.role === 'user')
  const before = turn === undefined ? undefined : points.find((index) => index <= turn && fits(index))
  if (before !== undefined) return before
  if (turn !== undefined && (rest[turn] ?? 0) <= 2 * keep) return turn
  return points.find(fits) ?? points.at(-1)
}

/** The tokens from each message to the end. */
function tailTokens(messages: readonly Message[]): number[] {
  const rest = messages.map(() => 0)
  let sum = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    sum += message ? messageTokens(message) : 0
    rest[index] = sum
  }
  return rest
}
