/**
 * The questions that a person may be asked: one table, with an entry for each kind of question. All code that asks,
 * shows, answers or carries out an answer uses it. This file also reads answers.
 */
import type { ToolErrorCode } from '../core/errors.ts'
import { UNSTORABLE, jsonBytes, preview } from '../core/message.ts'
import { INLINE_TEXT_LIMIT } from './limits.ts'

/** The words that answer each kind of question. No word belongs to two kinds. */
export interface DecisionsByKind {
  /** A call of a tool that must not be repeated was begun, and nobody knows how it ended. */
  unknown_outcome: 'done' | 'not_done' | 'retry'
  /** A call needs a person's permission before it runs. */
  approval: 'approve' | 'deny'
}

/** What a person is asked about. */
export type PendingKind = keyof DecisionsByKind
/** A word that answers a question. */
export type Decision = DecisionsByKind[PendingKind]

/** What an answer leads to. `name` is the tool's name, and `text` is what the person added. */
export type Consequence =
  /** The call ends with the person's text as its result. Without a text, `says` makes the result. */
  | { to: 'result'; says(name: string): string }
  /** The call ends with an error, which the model reads. */
  | { to: 'error'; code: ToolErrorCode; says(name: string, text?: string): string }
  /**
   * The call runs. `kept`: the ledger keeps the decision, so nobody is asked again if the worker dies before the call
   * begins.
   */
  | { to: 'run'; kept?: true }

interface Word {
  /** The meaning of the word, for people. */
  means: string
  /** What an added text is for. Unset: the word takes no text. */
  text?: string
  leads: Consequence
}

interface Entry<Said extends string> {
  /** The question that the person reads. @param about what the asker adds */
  message(name: string, about?: string): string
  /** One line of Markdown for the Temporal UI. */
  asks(name: string): string
  answers: Readonly<Record<Said, Word>>
  /** How the call ends when its turn is stopped before anybody has answered. */
  stopped: { code: ToolErrorCode; says(name: string): string }
}

export const PENDING: { readonly [Kind in PendingKind]: Entry<DecisionsByKind[Kind]> } = {
  unknown_outcome: {
    message: (name) => `"${name}" was begun, and nobody knows how it ended: did it take effect?`,
    asks: (name) => `Did \`${name}\` take effect?`,
    answers: {
      done: {
        means: 'it took effect',
        text: 'what the model reads as the result',
        leads: {
          to: 'result',
          says: (name) => `"${name}" took effect: a person has said so. Its result is not known.`,
        },
      },
      not_done: {
        means: 'it did not take effect, and is not run again',
        leads: {
          to: 'error',
          code: 'TOOL_EXECUTION_ERROR',
          says: (name) => `"${name}" did not take effect: a person has said so. It was not run again.`,
        },
      },
      retry: { means: 'run it again, whatever happened', leads: { to: 'run' } },
    },
    stopped: {
      code: 'TOOL_OUTCOME_UNKNOWN',
      says: (name) => `the turn was stopped before a person said whether "${name}" took effect; it was not run again`,
    },
  },
  approval: {
    message: (name, about) => (about ? preview(about, 500) : `may "${name}" run?`),
    asks: (name) => `May \`${name}\` run?`,
    answers: {
      approve: { means: 'it may run', leads: { to: 'run', kept: true } },
      deny: {
        means: 'it may not run',
        text: 'why, for the model',
        leads: {
          to: 'error',
          code: 'TOOL_PERMISSION_DENIED',
          says: (name, text) => `a person did not permit "${name}"${text ? `: ${text}` : ''}`,
        },
      },
    },
    stopped: {
      code: 'TOOL_CANCELLED',
      says: (name) => `the turn was stopped before a person said whether "${name}" may run; it was not run`,
    },
  },
}

export const PENDING_KINDS: readonly PendingKind[] = Object.keys(PENDING) as PendingKind[]
/** All words of all kinds. */
export const DECISIONS: readonly Decision[] = PENDING_KINDS.flatMap((kind) => decisionsOf(kind))

/** What waits for a person, as the workflow keeps it. The store has the whole item. */
export interface PendingRef {
  /** The id that an answer refers to. */
  id: string
  /** What is asked. */
  kind: PendingKind
}

/** What a person is asked. */
export interface Question extends PendingRef {
  /** The tool's name. */
  name: string
  /** Its name for people. */
  title?: string
  /** The call that waits. */
  callId: string
  /** The turn of the call. */
  turn: number
  /** Its round in the turn. */
  round: number
  /** The beginning of the call's arguments. */
  preview: string
  /** The question, for people. */
  message: string
}

/** The whole item: the question and its time by the store's clock. */
export interface PendingItem extends Question {
  /** When it was asked, ISO 8601. */
  at: string
}

/** A person's answer to a pending item. */
export interface Answer {
  id: string
  decision: Decision
  /** An added text, if the decision takes one. */
  text?: string
  /** Instead of `text`: the id of a long text in the table `messages`. */
  textId?: string
}

/** What a person decided about a step, kept with it until it has ended. */
export interface Decided {
  kind: PendingKind
  decision: Decision
}

/** Longest id that is accepted, in bytes. */
export const ID_LIMIT = 100

export function decisionsOf(kind: PendingKind): readonly Decision[] {
  return Object.keys(PENDING[kind].answers) as Decision[]
}

/** The word of a decision; undefined if the kind has no such decision. */
export function wordOf(kind: PendingKind, decision: Decision): Word | undefined {
  const answers: Readonly<Partial<Record<Decision, Word>>> = PENDING[kind].answers
  return answers[decision]
}

/** The line that the UI shows for an item: the question and the words that answer it. */
export function asksOf(kind: PendingKind, name: string): string {
  return `${PENDING[kind].asks(name)} ${either(decisionsOf(kind).map((word) => `\`${word}\``))}`
}

/** Reads what a person sent. @returns a string says what is wrong with it */
export function readAnswer(input: unknown): Answer | string {
  if (typeof input !== 'object' || input === null) return 'an answer is an object with id and decision'
  const { id, decision, text, textId } = input as Partial<Record<string, unknown>>
  if (typeof id !== 'string' || id === '' || jsonBytes(id) > ID_LIMIT) return 'id is missing: what is answered?'
  if (!isDecision(decision)) return `decision must be one of ${DECISIONS.join(', ')}`
  if (text === undefined && textId === undefined) return { id, decision }
  if (!WITH_TEXT.includes(decision)) return `a text goes with ${either(WITH_TEXT)}, not with ${decision}`
  if (textId !== undefined) {
    const known = typeof textId === 'string' && jsonBytes(textId) <= ID_LIMIT && !UNSTORABLE.test(textId)
    return known && text === undefined
      ? { id, decision, textId }
      : 'textId is not the id of a stored text, or stands beside a text'
  }
  if (typeof text !== 'string') return 'text is not a text'
  if (jsonBytes(text) <= INLINE_TEXT_LIMIT) return { id, decision, text }
  return `text is longer than ${INLINE_TEXT_LIMIT} bytes: \`stello answer\` takes longer ones`
}

/** What is wrong with an answer to an item of that kind; undefined if nothing is. */
export function wrongWord(kind: PendingKind, { decision }: Answer): string | undefined {
  return wordOf(kind, decision) ? undefined : `decision must be one of ${decisionsOf(kind).join(', ')}`
}

const WITH_TEXT: readonly Decision[] = PENDING_KINDS.flatMap((kind) =>
  decisionsOf(kind).filter((decision) => wordOf(kind, decision)?.text !== undefined),
)

function isDecision(word: unknown): word is Decision {
  return DECISIONS.some((one) => one === word)
}

function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
