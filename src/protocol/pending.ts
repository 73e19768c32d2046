/** What may be asked of a person, and how an answer is read: the same for the workflow and for its clients. */
import { UNSTORABLE, jsonBytes } from '../core/message.ts'
import { INLINE_TEXT_LIMIT } from './messages.ts'
import type { Answer, Decision, PendingKind } from './steps.ts'

/** Longest id that is looked at, in bytes. */
export const ID_LIMIT = 100

/** Which words answer what. */
const WORDS: Readonly<Record<PendingKind, readonly Decision[]>> = {
  unknown_outcome: ['done', 'not_done', 'retry'],
}

/** Reads what a person sent; a text says what is wrong with it. */
export function readAnswer(input: unknown): Answer | string {
  if (typeof input !== 'object' || input === null) return 'an answer is an object with id and decision'
  const { id, decision, result, resultId } = input as Partial<Record<string, unknown>>
  if (typeof id !== 'string' || id === '' || jsonBytes(id) > ID_LIMIT) return 'id is missing: what is answered?'
  if (!isDecision(decision)) return `decision must be one of ${words().join(', ')}`
  if (result === undefined && resultId === undefined) return { id, decision }
  if (decision !== 'done') return `a result goes with done, not with ${decision}`
  if (resultId !== undefined) {
    const known = typeof resultId === 'string' && jsonBytes(resultId) <= ID_LIMIT && !UNSTORABLE.test(resultId)
    return known && result === undefined
      ? { id, decision, resultId }
      : 'resultId is not the id of a stored text, or stands beside a result'
  }
  if (typeof result !== 'string') return 'result is not a text'
  if (jsonBytes(result) <= INLINE_TEXT_LIMIT) return { id, decision, result }
  return `result is longer than ${INLINE_TEXT_LIMIT} bytes: \`stello answer\` takes longer ones`
}

/** What is wrong with that answer to an item of that kind. */
export function wrongWord(kind: PendingKind, { decision }: Answer): string | undefined {
  const allowed = WORDS[kind]
  return allowed.includes(decision) ? undefined : `decision must be one of ${allowed.join(', ')}`
}

function words(): Decision[] {
  return [...new Set(Object.values(WORDS).flat())]
}

function isDecision(word: unknown): word is Decision {
  return words().some((one) => one === word)
}
