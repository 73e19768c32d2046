/** A person's answer: its form on the wire, how it is read, and what the ledger keeps of it. */
import { isObject } from '../core/is-object.ts'
import { UNSTORABLE, jsonBytes } from '../core/message.ts'
import { INLINE_TEXT_LIMIT } from './limits.ts'
import { DECISIONS, PENDING_KINDS, decisionsOf, either, wordOf, type Decision, type PendingKind } from './pending.ts'

/** A person's answer to a pending item. */
export interface Answer {
  id: string
  decision: Decision
  /** An added text, if the decision takes one. */
  text?: string
  /** Instead of `text`: the id of a long text in the table `messages`. */
  textId?: string
  /** The filled form, if the decision takes one. */
  values?: Readonly<Record<string, unknown>>
  /** With `approve`: the call runs with these arguments, not with the model's. */
  args?: Readonly<Record<string, unknown>>
  /** Instead of `args`: the id of their JSON in the table `messages`. */
  argsId?: string
  /** With `approve`: such calls are permitted from now on, in the session, in its tree, or wherever the agent works. */
  remember?: Remember
}

/** Where a permission goes on to hold: in its session, in the session's tree, or wherever its agent works. */
export type Remember = 'session' | 'tree' | 'agent'
export const REMEMBERS: readonly Remember[] = ['session', 'tree', 'agent']

/** What people have decided about a step so far, and what its call has been told, kept with it until it has ended. */
export interface Decided {
  /** The call may run. */
  approved?: true
  /** The hash of what was shown to the person who has permitted it. */
  shown?: string
  /** With these arguments, not with the model's. */
  args?: Readonly<Record<string, unknown>>
  /**
   * Before Temporal was rewound, the call began with these arguments of a person. They say what it may have done. They permit
   * nothing now.
   */
  begunWith?: Readonly<Record<string, unknown>>
  /** The answers to the questions of its tool. */
  answers?: readonly AnswerGiven[]
  /** What the waits for agents have found that are over, in their order (`AgentsWaited`). */
  waited?: readonly unknown[]
}

/** The answer to one question of a tool. */
export interface AnswerGiven {
  /** The hash of the question. */
  to: string
  text: string
  values?: unknown
  declined?: true
  /** Nobody has answered in time. */
  expired?: true
}

/** Longest id that is accepted, in bytes. */
export const ID_LIMIT = 100

/** Reads what a person sent. @returns a string says what is wrong with it */
export function readAnswer(input: unknown): Answer | string {
  if (typeof input !== 'object' || input === null) return 'an answer is an object with id and decision'
  const { id, decision, text, textId, values, args, argsId, remember } = input as Partial<Record<string, unknown>>
  if (typeof id !== 'string' || id === '' || jsonBytes(id) > ID_LIMIT) return 'id is missing: what is answered?'
  if (!isDecision(decision)) return `decision must be one of ${DECISIONS.join(', ')}`
  const parts = [
    readText(decision, text, textId),
    readValues(decision, values),
    readArgs(decision, args, argsId),
    readRemember(decision, remember),
  ]
  const problem = parts.find((part) => typeof part === 'string')
  return problem ?? Object.assign({ id, decision }, ...parts)
}

/** What is wrong with an answer to an item of that kind; undefined if nothing is. */
export function wrongWord(kind: PendingKind, { decision }: Answer): string | undefined {
  return wordOf(kind, decision) ? undefined : `decision must be one of ${decisionsOf(kind).join(', ')}`
}

/** How much of a workflow's state an answer takes, in bytes. */
export function sizeOfAnswer({ text = '', values, args }: Pick<Answer, 'text' | 'values' | 'args'>): number {
  return jsonBytes(text) + bytesOf(values) + bytesOf(args)
}

/** A part of an answer, or what is wrong with it. */
type Part = string | Partial<Answer>

function readText(decision: Decision, text: unknown, textId: unknown): Part {
  if (text === undefined && textId === undefined) return {}
  if (!WITH_TEXT.includes(decision)) return `a text goes with ${either(WITH_TEXT)}, not with ${decision}`
  if (textId !== undefined) {
    return isStoredId(textId) && text === undefined
      ? { textId }
      : 'textId is not the id of a stored text, or stands beside a text'
  }
  if (typeof text !== 'string') return 'text is not a text'
  if (jsonBytes(text) <= INLINE_TEXT_LIMIT) return { text }
  return `text is longer than ${INLINE_TEXT_LIMIT} bytes: \`stello answer\` takes longer ones`
}

function readValues(decision: Decision, values: unknown): Part {
  if (values === undefined) return {}
  if (!WITH_VALUES.includes(decision)) return `values go with ${either(WITH_VALUES)}, not with ${decision}`
  if (!isObject(values)) return 'values are not an object'
  return bytesOf(values) <= INLINE_TEXT_LIMIT ? { values } : `values are longer than ${INLINE_TEXT_LIMIT} bytes`
}

function readArgs(decision: Decision, args: unknown, argsId: unknown): Part {
  if (args === undefined && argsId === undefined) return {}
  if (!PERMITTING.includes(decision)) return `args go with ${either(PERMITTING)}, not with ${decision}`
  if (argsId !== undefined) {
    return isStoredId(argsId) && args === undefined
      ? { argsId }
      : 'argsId is not the id of stored args, or stands beside args'
  }
  if (!isObject(args)) return 'args are not an object'
  if (bytesOf(args) <= INLINE_TEXT_LIMIT) return { args }
  return `args are longer than ${INLINE_TEXT_LIMIT} bytes: \`stello approve\` takes longer ones`
}

function readRemember(decision: Decision, remember: unknown): Part {
  if (remember === undefined) return {}
  if (!PERMITTING.includes(decision)) return `remember goes with ${either(PERMITTING)}, not with ${decision}`
  const known = REMEMBERS.find((one) => one === remember)
  return known ? { remember: known } : `remember must be one of ${REMEMBERS.join(', ')}`
}

function isStoredId(id: unknown): id is string {
  return typeof id === 'string' && jsonBytes(id) <= ID_LIMIT && !UNSTORABLE.test(id)
}

const WITH_TEXT = wordsThatTake('text')
const WITH_VALUES = wordsThatTake('values')
const PERMITTING: readonly Decision[] = PENDING_KINDS.flatMap((kind) =>
  decisionsOf(kind).filter((decision) => {
    const leads = wordOf(kind, decision)?.leads
    return leads?.to === 'run' && leads.keeps === 'permission'
  }),
)

function wordsThatTake(what: 'text' | 'values'): readonly Decision[] {
  return PENDING_KINDS.flatMap((kind) =>
    decisionsOf(kind).filter((decision) => wordOf(kind, decision)?.[what] !== undefined),
  )
}

function isDecision(word: unknown): word is Decision {
  return DECISIONS.some((one) => one === word)
}

function bytesOf(json: unknown): number {
  return json === undefined ? 0 : jsonBytes(JSON.stringify(json))
}
