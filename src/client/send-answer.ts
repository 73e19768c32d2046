/** Answers what waits for a person. A long text goes to the store first, and the signal names it. */
import { randomUUID } from 'node:crypto'
import { StelloError } from '../core/errors.ts'
import { jsonBytes } from '../core/message.ts'
import { INLINE_TEXT_LIMIT } from '../protocol/limits.ts'
import { answerSignal } from '../protocol/messages.ts'
import { readAnswer, wrongWord, type Answer, type Decision } from '../protocol/pending.ts'
import { readQuestions, type InboxQuestion } from '../store/inbox.ts'
import { putMessage } from '../store/message-bodies.ts'
import { mustBeOpen, reachSession } from './reach-session.ts'
import type { ClientDeps } from './start-session.ts'

export async function sendAnswer(
  deps: ClientDeps,
  sessionId: string,
  { id, decision, text }: { id: string; decision: Decision; text?: string },
): Promise<void> {
  await mustBeOpen(deps, sessionId)
  const big = text !== undefined && jsonBytes(text) > INLINE_TEXT_LIMIT
  const textId = big ? `answer-${randomUUID()}` : undefined
  const answer = checkAnswer(await readQuestions(deps.db, [sessionId]), {
    id,
    decision,
    ...(textId !== undefined && { textId }),
    ...(text !== undefined && !big && { text }),
  })
  if (textId !== undefined && text !== undefined) await putMessage(deps.db, sessionId, textId, text)
  const workflow = deps.client.workflow.getHandle(sessionId)
  await reachSession(deps, sessionId, () => workflow.signal(answerSignal, answer))
}

function checkAnswer(open: InboxQuestion[], input: unknown): Answer {
  const answer = readAnswer(input)
  if (typeof answer === 'string') throw new StelloError('INVALID_ARGUMENT', `answer: ${answer}`)
  const item = open.find(({ id }) => id === answer.id)
  const problem = item ? wrongWord(item.kind, answer) : `nothing with the id "${answer.id}" waits for an answer`
  if (problem !== undefined) {
    throw new StelloError('INVALID_ARGUMENT', `answer: ${problem}`, {
      hint: '`stello inbox` shows what waits; an item that was answered is no longer there',
    })
  }
  return answer
}
