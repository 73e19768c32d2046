/**
 * Reads a reply in the JSON action protocol: the text, and the tools it calls.
 *
 * An action that must not run becomes a call too, with arguments that are no JSON. The session answers it with an error
 * that quotes them, so the model reads why, and the transcript keeps what the model wrote.
 */
import { preview, type ToolCall } from '../../core/message.ts'
import type { Completion, ToolSpec } from '../../core/model.ts'
import { mendObject, parseObject } from './extract-json.ts'
import { findCandidates, REPLY_LIMIT, type Candidate } from './json-candidates.ts'
import { Mender } from './mend-json.ts'
import { isObject } from '../../core/is-object.ts'

export interface ActionReply {
  /** The text before the first action. Text after it is dropped: the model wrote it without knowing the result. */
  content: string
  toolCalls: ToolCall[]
}

interface Call {
  name: string
  /** JSON, unless the call is refused. */
  arguments: string
}

interface Action extends Call, Candidate {
  /** As the model wrote it. */
  source: string
}

/** What the transcript keeps of a call that is not run. */
const QUOTE_LIMIT = 4096
const REFUSED = /^\(not run: [^)]*\)\n/
const CUT_OFF = 'your JSON was cut off or is too large; send it whole, in smaller pieces if need be'
const SECOND = 'only the first action of a reply runs'
const QUOTED =
  'an action must end your reply, on lines of its own or in a code block; to run it, send it so; to answer, leave it out'
/** Only ends of code blocks. */
const FENCES = /^(?:\s|```)*$/
const NAME = /\{\s*["']?(?:action|tool|name)["']?\s*:\s*["']([^"'\\]{1,64})["']/

/** @param idPrefix begins the id of each call; a number follows */
export function readActions(
  text: string,
  finishReason: Completion['finishReason'],
  tools: readonly ToolSpec[],
  idPrefix: string,
): ActionReply {
  const found = findActions(text, tools)
  const meant = findMeant(text, found, tools)
  // An action that was only quoted, before one that runs, belongs to the prose.
  const actions = found.slice(Math.max(meant, 0))
  const [first] = actions
  if (!first) return { content: text, toolCalls: [] }
  const toolCalls = actions.map((action, index): ToolCall => {
    const reason = finishReason === 'length' ? CUT_OFF : index > 0 ? SECOND : meant < 0 ? QUOTED : ''
    return {
      id: index === 0 ? idPrefix : `${idPrefix}_${index}`,
      name: action.name,
      arguments: reason ? refuse(reason, action.source) : action.arguments,
    }
  })
  return { content: text.slice(0, first.proseEnd).trimEnd(), toolCalls }
}

/**
 * The first action that the model must have meant to run. One that changes nothing may be anywhere. Any other must end
 * the reply, alone on its lines or in a fence, because a model that refuses quotes what it refuses. One that is cut off
 * never runs.
 */
function findMeant(text: string, actions: readonly Action[], tools: readonly ToolSpec[]): number {
  const readOnly = new Set(tools.flatMap((tool) => (tool.readOnly ? tool.name : [])))
  const ends = new Set<Action>()
  let upTo = text.length
  for (const action of [...actions].reverse()) {
    if (!FENCES.test(text.slice(action.end, upTo))) break
    ends.add(action)
    upTo = action.proseEnd
  }
  return actions.findIndex((action) => {
    if (!action.closed || readOnly.has(action.name)) return true
    return ends.has(action) && (action.fenced || beginsLine(text, action.start))
  })
}

/** Also after a thought. */
function beginsLine(text: string, start: number): boolean {
  let at = start
  while (at > 0 && ' \t'.includes(text.charAt(at - 1))) at--
  return at === 0 || '\r\n'.includes(text.charAt(at - 1)) || text.endsWith('</think>', at)
}

/** A past call as its model wrote it. */
export function toActionText({ name, arguments: text }: ToolCall): string {
  const args = parseArguments(text)
  if (!args) return text.replace(REFUSED, '')
  return JSON.stringify(
    'action' in args || 'params' in args ? { action: name, params: args } : { action: name, ...args },
  )
}

/** Actions of registered tools if there are any, else the first one of an unknown tool, which the session answers. */
function findActions(text: string, tools: readonly ToolSpec[]): Action[] {
  const mender = new Mender()
  const actions = (text.length > REPLY_LIMIT ? tooLong(text) : findCandidates(text)).flatMap((candidate): Action[] => {
    const source = text.slice(candidate.start, candidate.end)
    const action = readAction(source, candidate.closed, tools, mender)
    return action ? [{ ...action, ...candidate, source }] : []
  })
  const registered = actions.filter(({ name }) => tools.some((tool) => tool.name === name))
  return registered.length > 0 ? registered : actions.slice(0, 1)
}

function tooLong(text: string): Candidate[] {
  const start = text.search(NAME)
  return start < 0 ? [] : [{ start, end: text.length, closed: false, fenced: false, proseEnd: start }]
}

function readAction(source: string, closed: boolean, tools: readonly ToolSpec[], mender: Mender): Call | undefined {
  const object = closed ? (parseObject(source) ?? mendObject(source, mender)) : null
  if (object) return toAction(object, tools)
  const match = NAME.exec(source)
  const tool = match?.index === 0 && tools.find(({ name }) => name === match[1])
  return tool ? { name: tool.name, arguments: refuse(closed ? 'your JSON is not valid' : CUT_OFF, source) } : undefined
}

/** Some models write calls as in other protocols. Such a form is accepted when it can only mean a call. */
function toAction(object: Record<string, unknown>, tools: readonly ToolSpec[]): Call | undefined {
  const { action, ...rest } = object
  if (typeof action === 'string' && action !== '') {
    const { params, ...others } = rest
    const nested = isObject(params) && Object.keys(others).length === 0 && isNested(action, params, tools)
    return { name: action, arguments: JSON.stringify(nested ? params : rest) }
  }
  const [name, args] = 'tool' in object ? [object['tool'], object['arguments']] : [object['name'], object['input']]
  const tool = tools.find((one) => one.name === name)
  return tool && isObject(args) ? { name: tool.name, arguments: JSON.stringify(args) } : undefined
}

/**
 * A tool may have its own parameter `params`. Then `params` is the nested form only when it cannot be that parameter.
 */
function isNested(toolName: string, params: Record<string, unknown>, tools: readonly ToolSpec[]): boolean {
  const properties = tools.find(({ name }) => name === toolName)?.parameters['properties']
  const ambiguous = isObject(properties) && 'params' in properties
  return !ambiguous || 'params' in params || 'action' in params
}

function refuse(reason: string, source: string): string {
  return `(not run: ${reason})\n${preview(source, QUOTE_LIMIT)}`
}

function parseArguments(text: string): Record<string, unknown> | undefined {
  try {
    const args: unknown = text.trim() === '' ? {} : JSON.parse(text)
    return isObject(args) ? args : undefined
  } catch {
    return undefined
  }
}
