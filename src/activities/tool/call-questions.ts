/**
 * The questions that a call asks people while it runs. A question without an answer ends the attempt: the code that
 * waits for `ctx.ask` goes no further in it, so nothing can be done twice. After the answer the call runs again from its
 * beginning, and the same question returns the answer.
 */
import { durationText, toWaitMs } from '../../core/duration.ts'
import type { AgentPermissions } from '../../agent/permission-settings.ts'
import { StelloError, messageOf } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import { jsonBytes, preview } from '../../core/message.ts'
import type { Expiry, QuestionForm } from '../../protocol/pending.ts'
import type { AnswerGiven } from '../../protocol/read-answer.ts'
import { inputHash } from '../../store/ledger/hashes.ts'
import { shown } from './shown.ts'
import { fitAnswer } from '../../tool/fit-answer.ts'
import { INLINE_TEXT_LIMIT } from '../../protocol/limits.ts'
import { compile } from '../../tool/json-schema.ts'
import type { PersonAnswer, PersonQuestion } from '../../tool/person.ts'
import type { ToolContext } from '../../tool/tool.ts'

/** The question that a call needs an answer to before it goes on. */
export interface Asks {
  kind: 'question'
  /** The question. */
  about: string
  form: QuestionForm
  expiry?: Expiry
}

const HEADER_SHOWN = 100
const DESCRIPTION_SHOWN = 1000
const PREVIEW_SHOWN = 32 * 1024
/** In UTF-16 units. An answer repeats it, so it is never cut. */
const LABEL_LIMIT = 200
const OPTIONS_LIMIT = 50
const YES = 'Yes'
const NO = 'No'
/** As JSON, in UTF-16 units. */
const SCHEMA_LIMIT = 16 * 1024

/**
 * Runs work that may ask people.
 *
 * @param given.answers to questions of earlier attempts at the call
 * @param given.permissions of the agent: a confirmation waits as long as any other permission
 * @returns `asks` as soon as the work asks something that has no answer yet; its signal then fires
 */
export function withQuestions<T>(
  ctx: ToolContext,
  { answers, permissions = {} }: { answers: readonly AnswerGiven[]; permissions?: AgentPermissions | undefined },
  work: (ctx: ToolContext) => Promise<T>,
): Promise<T | { asks: Asks }> {
  const over = new AbortController()
  let park: (asked: { asks: Asks }) => void
  const asked = new Promise<{ asks: Asks }>((resolve) => (park = resolve))
  const ask = async (question: PersonQuestion): Promise<PersonAnswer> => {
    const form = toForm(question)
    const given = answers.find(({ to }) => to === form.hash)
    if (given) return toAnswer(given)
    const expiry = toExpiry(question)
    if (ctx.permissionMode === 'dontAsk') {
      throw new StelloError('TOOL_PERMISSION_DENIED', 'no person is asked here: decide yourself')
    }
    park({ asks: { kind: 'question', about: question.message, form, ...(expiry && { expiry }) } })
    over.abort('a person is asked')
    // An error could be caught, and the code behind it would then run without an answer.
    return new Promise<never>(() => {})
  }
  const confirmationHandler = async (request: unknown): Promise<boolean> => {
    const { text, declined } = await ask(toConfirmation(request, permissions))
    return !declined && text.trim().toLowerCase() === YES.toLowerCase()
  }
  const signal = AbortSignal.any([ctx.signal, over.signal])
  return Promise.race([asked, work({ ...ctx, ask, confirmationHandler, signal })])
}

/**
 * @param request a text, or an object with `title`, `message`, `expiresIn`, `default` and other fields that people should see
 * @throws StelloError TOOL_EXECUTION_ERROR when its default is neither true nor false
 */
function toConfirmation(request: unknown, permissions: AgentPermissions): PersonQuestion {
  const { title, message, expiresIn, default: stated, ...more } = isObject(request) ? request : { message: request }
  if (stated !== undefined && typeof stated !== 'boolean') throw unaskable('its default is neither true nor false')
  const confirmed = stated ?? (expiresIn === undefined && permissions.default === 'approve')
  const wait = (expiresIn as PersonQuestion['expiresIn']) ?? permissions.expiresIn
  const [asked = 'May this be done?', header] = [message, title].filter((text) => typeof text === 'string')
  return {
    message: asked,
    ...(header !== undefined && { header }),
    options: [{ label: YES }, { label: NO }],
    ...(wait !== undefined && { expiresIn: wait }),
    ...((confirmed || (stated !== undefined && wait === undefined)) && { default: { text: confirmed ? YES : NO } }),
    ...(Object.keys(more).length > 0 && { preview: JSON.stringify(shown(more, PREVIEW_SHOWN)) }),
  }
}

function toAnswer({ text, values, declined, expired }: AnswerGiven): PersonAnswer {
  return {
    text,
    ...(values !== undefined && { values }),
    ...(declined && { declined }),
    ...(expired && { expired }),
  }
}

/** @throws StelloError TOOL_EXECUTION_ERROR when the time is malformed, or the default does not fit the question */
function toExpiry({ expiresIn, default: given, schema }: PersonQuestion): Expiry | undefined {
  if (expiresIn === undefined) {
    if (given !== undefined) throw unaskable('it has a default and no expiresIn')
    return undefined
  }
  const inMs = waitOf(expiresIn)
  if (given === undefined) {
    return { inMs, otherwise: { decision: 'decline', text: `nobody has answered within ${durationText(inMs)}` } }
  }
  const { text = '', values } = isObject(given) ? (given as NonNullable<PersonQuestion['default']>) : { text: '' }
  if (typeof text !== 'string') throw unaskable('the text of its default is no text')
  const fitted = fitAnswer({ ...(schema && { schema }) }, { text, ...(values !== undefined && { values }) })
  if (!fitted.ok) throw unaskable(`its default does not fit: ${fitted.problem}`)
  const otherwise = { decision: 'answer' as const, ...(text && { text }), ...(values && { values }) }
  if (jsonBytes(JSON.stringify(otherwise)) > INLINE_TEXT_LIMIT)
    throw unaskable(`its default is longer than ${INLINE_TEXT_LIMIT} bytes`)
  return { inMs, otherwise }
}

function waitOf(expiresIn: NonNullable<PersonQuestion['expiresIn']>): number {
  try {
    return toWaitMs(expiresIn, 'expiresIn')
  } catch (error) {
    throw unaskable(messageOf(error))
  }
}

/** @throws StelloError TOOL_EXECUTION_ERROR when no person could be shown the question */
function toForm(question: PersonQuestion): QuestionForm {
  if (!isObject(question)) throw unaskable('it is not an object with a message')
  const { message, header, options, multiSelect, schema, preview: about } = question
  if (typeof message !== 'string' || message.trim() === '') throw unaskable('its message is missing')
  const hash = inputHash('question', JSON.stringify([message, header, options, multiSelect, schema, about]))
  return {
    hash,
    ...(header && { header: preview(String(header), HEADER_SHOWN) }),
    ...(options && options.length > 0 && { options: readOptions(options) }),
    ...(multiSelect && { multiSelect }),
    ...(schema && { schema: readSchema(schema) }),
    ...(about && { preview: preview(String(about), PREVIEW_SHOWN) }),
  }
}

function readOptions(options: NonNullable<PersonQuestion['options']>): NonNullable<QuestionForm['options']> {
  if (options.length > OPTIONS_LIMIT) throw unaskable(`it has more than ${OPTIONS_LIMIT} options`)
  return options.map(({ label, description }) => {
    if (typeof label !== 'string' || label.trim() === '' || label.length > LABEL_LIMIT) {
      throw unaskable(`the label of an option is not a text of 1 to ${LABEL_LIMIT} characters`)
    }
    return { label, ...(description && { description: preview(String(description), DESCRIPTION_SHOWN) }) }
  })
}

function readSchema(schema: NonNullable<PersonQuestion['schema']>): NonNullable<QuestionForm['schema']> {
  if (JSON.stringify(schema).length > SCHEMA_LIMIT)
    throw unaskable(`its schema is longer than ${SCHEMA_LIMIT} characters`)
  try {
    compile(schema)
  } catch (error) {
    throw unaskable(`its schema is not valid: ${messageOf(error)}`)
  }
  return schema
}

function unaskable(why: string): StelloError {
  return new StelloError('TOOL_EXECUTION_ERROR', `the tool asks a question that cannot be asked: ${why}`)
}
