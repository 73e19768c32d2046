/**
 * Reads a whole reply of a text model: the text, and the tools it calls.
 *
 * An action that must not run becomes a call too, but its arguments are no JSON. The session answers the call with an
 * error that quotes these arguments. So the model reads why it did not run, and the transcript keeps what it wrote.
 */
import { preview, type ToolCall } from '../../core/message.ts'
import type { Completion, ToolSpec } from '../../core/model.ts'
import { ARGUMENTS, readCalls, type Call } from './call-forms.ts'
import { LIST_GLUE, NOTHING_MORE, OTHERS_SPEAK } from './call-marks.ts'
import { mendObject, parseObject } from './extract-json.ts'
import { findCandidates, REPLY_LIMIT, type Candidate } from './json-candidates.ts'
import { Mender } from './mend-json.ts'
import { afterThought } from './thought.ts'

export interface ActionReply {
  /**
   * The text before the first action, without the model's reasoning. Text after the action is dropped: the model wrote
   * it without knowing the result.
   */
  content: string
  toolCalls: ToolCall[]
}

interface Written extends Candidate {
  /** As the model wrote it. */
  source: string
}

interface Action extends Call, Omit<Written, 'name'> {
  /** Why it cannot run, if its text alone says so. */
  broken: string
}

/** How many characters the transcript keeps of a call that is not run. */
const QUOTE_LIMIT = 4096
const REFUSED = /^\(not run: [^)]*\)\n/
const CUT_OFF = 'your JSON was cut off or is too large; send it whole, in smaller pieces if need be'
const NOT_VALID = 'your JSON is not valid'
const HALF = 'your JSON is not valid: more text follows that belongs to it'
const NO_OBJECT = 'your arguments are no JSON object'
const SECOND = 'only the first action of a reply runs'
const MADE_UP = 'it stands behind a result that you made up; wait for the results of your first calls'
const QUOTED =
  'an action must end your reply, on lines of its own or in a code block; to run it, send it so; to answer, leave it out'
const NAME = /\{\s*["']?(?:action|tool|tool_name|name)["']?\s*:\s*["']([^"'\\]{1,64})["']/
const HAS_ARGUMENTS = new RegExp(`["'](?:${ARGUMENTS.join('|')})["']\\s*:`)
const SECOND_OBJECT = /\s*,\s*\{/y
/** The first call in a list or a wrapper. */
const WRAPPED = /^\{\s*["']?(?:tool_calls|function)["']?\s*:[\s\S]{0,200}?["']name["']\s*:\s*["']([^"'\\]{1,64})["']/

/**
 * @param idPrefix the beginning of each call's id. The call's place among all calls of the reply follows as a number
 */
export function readActions(
  { content, finishReason }: Pick<Completion, 'content' | 'finishReason'>,
  tools: readonly ToolSpec[],
  idPrefix: string,
): ActionReply {
  const answer = content.slice(afterThought(content))
  if (tools.length === 0) return { content: answer, toolCalls: [] }
  const found = findActions(answer, tools)
  const runs = new Meant(answer, found, tools)
  const meant = found.findIndex((action) => runs.has(action))
  // Before an action that runs, an action that was only quoted belongs to the prose.
  const from = Math.max(meant, 0)
  const first = found[from]
  if (!first) return { content: answer, toolCalls: [] }
  const others = OTHERS_SPEAK.exec(answer.slice(first.end))
  const end = first.end + (others?.index ?? answer.length)
  const toolCalls = found.slice(from).map((action, index): ToolCall => {
    const second = index > 0 && (action.own || first.own) ? SECOND : action.start > end ? MADE_UP : ''
    const quoted = meant < 0 || !runs.has(action) ? QUOTED : ''
    const reason = finishReason === 'length' ? CUT_OFF : action.broken || second || quoted
    return {
      id: idOf(idPrefix, from + index),
      name: action.name,
      arguments: reason ? refuse(reason, action.source) : (action.arguments ?? ''),
    }
  })
  return { content: answer.slice(0, first.proseEnd).trimEnd(), toolCalls }
}

/** The id of a call. It is the same while the reply streams in and when the reply is whole. */
export function idOf(prefix: string, place: number): string {
  return place === 0 ? prefix : `${prefix}_${place}`
}

/**
 * The actions that the model must have meant to run. An action behind a mark is never a quotation, unless it stands in
 * code. An action that changes nothing may stand anywhere. Any other action must end the reply, alone on its lines or
 * in a fence, because a model that refuses a request may quote the action that it refuses. An action that is cut off
 * never runs, but it is answered.
 */
class Meant {
  readonly #readOnly: ReadonlySet<string>
  readonly #atEnd = new Set<Action>()

  constructor(text: string, actions: readonly Action[], tools: readonly ToolSpec[]) {
    this.#readOnly = new Set(tools.flatMap((tool) => (tool.readOnly ? tool.name : [])))
    const ends = new Set<Action>()
    let upTo = text.length
    for (const action of [...actions].reverse()) {
      if (!(action.own ? NOTHING_MORE : LIST_GLUE).test(text.slice(action.end, upTo))) break
      ends.add(action)
      upTo = action.own ? action.proseEnd : action.at
    }
    let before: Action | undefined
    for (const action of actions) {
      const goesOn = before && !action.own && this.#atEnd.has(before)
      if (ends.has(action) && (goesOn || action.fenced || beginsLine(text, action.at))) this.#atEnd.add(action)
      before = action
    }
  }

  has(action: Action): boolean {
    const { closed, marked, quoted, name } = action
    return !closed || (marked && !quoted) || this.#readOnly.has(name) || this.#atEnd.has(action)
  }
}

/** Whether only blanks stand between a place and the beginning of its line, or between it and the end of a thought. */
function beginsLine(text: string, start: number): boolean {
  let at = start
  while (at > 0 && ' \t'.includes(text.charAt(at - 1))) at--
  return at === 0 || '\r\n'.includes(text.charAt(at - 1)) || text.endsWith('</think>', at)
}

/** A call that did not run, as the model wrote it: without the reason that `refuse` put before it. */
export function quoteOf(refused: string): string {
  return refused.replace(REFUSED, '')
}

/**
 * The actions of registered tools. If there are none, the first action of an unknown tool: the session answers it with
 * an error.
 */
function findActions(text: string, tools: readonly ToolSpec[]): Action[] {
  const mender = new Mender()
  const names = new Set(tools.map(({ name }) => name))
  const candidates = text.length > REPLY_LIMIT ? tooLong(text) : findCandidates(text)
  const actions = candidates.flatMap((candidate) =>
    readAction({ ...candidate, source: text.slice(candidate.start, candidate.end) }, tools, mender),
  )
  for (const action of actions) if (action.own && isHalf(text, action, actions)) action.broken ||= HALF
  const registered = actions.filter(({ name, marked }) => marked || names.has(name))
  if (registered.some(({ name }) => names.has(name))) return registered
  return actions.filter(({ own }) => own).slice(0, 1)
}

/** An object that follows an action after a comma belongs to the action, if it is no action itself. */
function isHalf(text: string, { end }: Action, actions: readonly Action[]): boolean {
  SECOND_OBJECT.lastIndex = end
  const [second] = SECOND_OBJECT.exec(text) ?? []
  return second !== undefined && !actions.some(({ start }) => start === end + second.length - 1)
}

function tooLong(text: string): Candidate[] {
  const start = text.search(NAME)
  const place = { end: text.length, closed: false, half: false, fenced: false, quoted: false, marked: false }
  return start < 0 ? [] : [{ ...place, start, at: start, proseEnd: start }]
}

function readAction({ name, ...place }: Written, tools: readonly ToolSpec[], mender: Mender): Action[] {
  const { source, closed, half, marked } = place
  const object = closed && !half ? (parseObject(source) ?? mendObject(source, mender)) : null
  if (object) {
    return readCalls(object, { tools, marked, ...(name !== undefined && { name }) }).map((call) => {
      return { ...place, ...call, broken: call.arguments === undefined ? NO_OBJECT : '' }
    })
  }
  const match = NAME.exec(source)
  const written = name ?? (match?.index === 0 ? match[1] : WRAPPED.exec(source)?.[1])
  const tool = tools.find((one) => one.name === written)
  if (!tool) return []
  const own = /^\{\s*["']?action/.test(source)
  // An object that has only a name may be anything. It is not taken for a call that was cut off or ended too early.
  if ((half || !closed) && !own && !marked && !HAS_ARGUMENTS.test(source)) return []
  const broken = !closed ? CUT_OFF : half ? HALF : NOT_VALID
  return [{ ...place, name: tool.name, arguments: undefined, own, broken }]
}

function refuse(reason: string, source: string): string {
  return `(not run: ${reason})\n${preview(source, QUOTE_LIMIT)}`
}
