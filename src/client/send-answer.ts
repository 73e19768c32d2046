/** Answers what waits for a person. A long text goes to the store first, and the signal names it. */
import { randomUUID } from 'node:crypto'
import { StelloError } from '../core/errors.ts'
import { jsonBytes } from '../core/message.ts'
import { INLINE_TEXT_LIMIT } from '../protocol/limits.ts'
import { answerBodyId } from '../protocol/keys.ts'
import { answerSignal } from '../protocol/temporal-messages.ts'
import type { Decision } from '../protocol/pending.ts'
import { readAnswer, wrongWord, type Answer, type Remember } from '../protocol/read-answer.ts'
import { readQuestions, type InboxQuestion } from '../store/watching/inbox.ts'
import { putMessage } from '../store/transcript/message-bodies.ts'
import { fitAnswer } from '../tool/fit-answer.ts'
import { mustBeOpen, reachSession } from './reach-session.ts'
import type { ClientDeps } from './client-deps.ts'

/** A person's answer to something that waits for a person. */
export interface AnswerOptions {
  /**
   * To `unknown_outcome`: `done`, `not_done` (whether the call took effect), `retry` (run it again). To `approval`:
   * `approve`, `deny` (whether the call may run). To `question`: `answer`, `decline` (go on without an answer).
   */
  decision: Decision
  /**
   * With `done`: what the model reads as the call's result. With `deny` and `decline`: why. With `answer`: the answer, in
   * own words or as the labels of options.
   */
  text?: string
  /** With `answer`, where the question has a form: values that fit its schema. */
  values?: Readonly<Record<string, unknown>>
  /** With `approve`: the call runs with these arguments, not with the model's. They are checked like the model's. */
  args?: Readonly<Record<string, unknown>>
  /**
   * With `approve`: such calls are permitted from now on, in the session, in its tree, or wherever its agent works.
   */
  remember?: Remember
}

/** Options of an approval. */
export type ApproveOptions = Pick<AnswerOptions, 'args' | 'remember'>

export async function sendAnswer(
  deps: ClientDeps,
  sessionId: string,
  { id, decision, text, values, args, remember }: { id: string } & AnswerOptions,
): Promise<void> {
  await mustBeOpen(deps, sessionId)
  const long = { textId: text, argsId: args && JSON.stringify(args) }
  const stored = Object.entries(long).flatMap(([field, body]) =>
    body !== undefined && jsonBytes(body) > INLINE_TEXT_LIMIT ? [{ field, body, id: answerBodyId(randomUUID()) }] : [],
  )
  const isStored = (field: keyof typeof long): boolean => stored.some((one) => one.field === field)
  const open = await readQuestions(deps.db, [sessionId])
  const answer = checkAnswer(open, text, {
    id,
    decision,
    ...(text !== undefined && !isStored('textId') && { text }),
    ...(values !== undefined && { values }),
    ...(args !== undefined && !isStored('argsId') && { args }),
    ...(remember !== undefined && { remember }),
    ...Object.fromEntries(stored.map(({ field, id: bodyId }) => [field, bodyId])),
  })
  for (const { id: bodyId, body } of stored) await putMessage(deps.db, sessionId, { messageId: bodyId, text: body })
  const workflow = deps.client.workflow.getHandle(sessionId)
  await reachSession(deps, sessionId, () => workflow.signal(answerSignal, answer))
}

/** @param text the whole of it */
function checkAnswer(open: InboxQuestion[], text: string | undefined, input: unknown): Answer {
  const answer = readAnswer(input)
  if (typeof answer === 'string') throw new StelloError('INVALID_ARGUMENT', `answer: ${answer}`)
  const item = open.find(({ id }) => id === answer.id)
  const problem = item ? unfit(item, answer, text) : `nothing with the id "${answer.id}" waits for an answer`
  if (problem !== undefined) {
    throw new StelloError('INVALID_ARGUMENT', `answer: ${problem}`, {
      hint: '`stello inbox` shows what waits; an item that was answered is no longer there',
    })
  }
  return answer
}

function unfit({ kind, form }: InboxQuestion, answer: Answer, text = ''): string | undefined {
  const wrong = wrongWord(kind, answer)
  if (wrong !== undefined || answer.decision !== 'answer') return wrong
  const fitted = fitAnswer(form ?? {}, { text, values: answer.values })
  return fitted.ok ? undefined : fitted.problem
}
