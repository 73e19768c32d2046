/**
 * The questions that a person may be asked: one table, with an entry for each kind of question. All code that asks,
 * shows, answers or carries out an answer uses it. `read-answer.ts` reads answers.
 */
import type { ToolErrorCode } from '../core/errors.ts'
import { preview } from '../core/message.ts'
import type { JsonSchema } from '../core/model.ts'

/** The words that answer each kind of question. No word belongs to two kinds. */
export interface DecisionsByKind {
  /** A call of a tool that must not be repeated was begun, and nobody knows how it ended. */
  unknown_outcome: 'done' | 'not_done' | 'retry'
  /** A call needs a person's permission before it runs. */
  approval: 'approve' | 'deny'
  /** A running tool asks something. */
  question: 'answer' | 'decline'
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
   * The call runs. `keeps`: the ledger keeps the permission or the answer, so nobody is asked again if the worker dies
   * before the call has ended.
   */
  | { to: 'run'; keeps?: 'permission' | 'answer' }

interface Word {
  /** The meaning of the word, for people. */
  means: string
  /** What an added text is for. Unset: the word takes no text. */
  text?: string
  /** What added values are for. Unset: the word takes no values. */
  values?: string
  leads: Consequence
}

interface Entry<Said extends string> {
  /** The question that the person reads. @param about what the asker adds */
  message(name: string, about?: string): string
  /** One line of Markdown for the Temporal UI. */
  asks(name: string): string
  answers: Readonly<Record<Said, Word>>
  /** The call has begun when this is asked. Unset: a call that waits counts as not begun. */
  begun?: true
  /** The answers say whether the call may run. People are told so (`permission.decided`), and rules may answer for them. */
  permits?: true
  /** The answer when nobody has answered in time, and the asker has named none. Unset: the question waits for ever. */
  otherwise?: Said
  /** How the call ends when its turn is stopped before anybody has answered. */
  stopped: { code: ToolErrorCode; says(name: string): string }
  /** What the model reads when the call ends because nobody has answered in time. Unset: the words say it. */
  expired?(name: string): string
}

/** As long as what a call would touch can be, with how much is left out: a person must see that there is more. */
const APPROVAL_SHOWN = 4000

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
    begun: true,
    stopped: {
      code: 'TOOL_OUTCOME_UNKNOWN',
      says: (name) => `the turn was stopped before a person said whether "${name}" took effect; it was not run again`,
    },
  },
  approval: {
    message: (name, about) => (about ? preview(about, APPROVAL_SHOWN) : `may "${name}" run?`),
    asks: (name) => `May \`${name}\` run?`,
    answers: {
      approve: { means: 'it may run', leads: { to: 'run', keeps: 'permission' } },
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
    permits: true,
    otherwise: 'deny',
    stopped: {
      code: 'TOOL_CANCELLED',
      says: (name) => `the turn was stopped before a person said whether "${name}" may run; it was not run`,
    },
    expired: (name) => `nobody has said in time whether "${name}" may run; it was not run`,
  },
  question: {
    message: (name, about) => (about ? preview(about, 2000) : `"${name}" asks something`),
    asks: (name) => `\`${name}\` asks something.`,
    answers: {
      answer: {
        means: 'it goes on with this answer',
        text: 'the answer',
        values: 'the filled form',
        leads: { to: 'run', keeps: 'answer' },
      },
      decline: {
        means: 'it goes on without an answer',
        text: 'why, for the tool',
        leads: { to: 'run', keeps: 'answer' },
      },
    },
    otherwise: 'decline',
    stopped: {
      code: 'TOOL_CANCELLED',
      says: (name) => `the turn was stopped before a person answered "${name}"; it was not run`,
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
  /**
   * When it waits no longer, ISO 8601. Unset: it waits for ever. What people see is by the store's clock. The workflow
   * keeps the same moment by Temporal's clock, and that one decides.
   */
  expiresAt?: string
}

/** The same, as the workflow keeps it while the call waits. */
export interface WaitingRef extends PendingRef {
  /** People outside are to be told of it, and were not yet. */
  tell?: true
}

/** What becomes of a question that nobody has answered in time: the answer that it then gets. */
export interface Otherwise {
  /** The word that counts as the answer. */
  decision: Decision
  /** With `answer`: the answer. With `decline` and `deny`: why. */
  text?: string
  /** The filled form of a question that has one. */
  values?: Readonly<Record<string, unknown>>
}

/** How long a question waits for an answer, and what counts as the answer then. */
export interface Expiry {
  inMs: number
  otherwise: Otherwise
}

/** How a question of a tool may be answered, and what people see beside it. */
export interface QuestionForm {
  /** Tells this question of the call from its others. */
  hash: string
  /** A few words above the question. */
  header?: string
  /** Answers to choose from. */
  options?: readonly { label: string; description?: string }[]
  /** More than one option may be chosen. */
  multiSelect?: true
  /** The answer needs values that fit it. */
  schema?: JsonSchema
  /** A longer text that the question is about. */
  preview?: string
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
  /** Set for a `question`. */
  form?: QuestionForm
  /** Set for an `approval`. */
  permit?: ShownToPermit
  /** What counts as the answer when nobody has answered until `expiresAt`. */
  otherwise?: Otherwise
}

/** What an approval permits. */
export interface ShownToPermit {
  /** Tells what was shown from everything else: if the call would touch something else by now, it is asked about anew. */
  hash: string
  /** All that the call would touch, a line each. The last line says how many more there are, above 32,000 characters. */
  touches: string[]
  /** Rules that would let the same run again without a question. None: the call cannot be named by rules. */
  rules: string[]
}

/** The whole item: the question and its time by the store's clock. */
export interface PendingItem extends Question {
  /** When it was asked, ISO 8601. */
  at: string
}

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

/** Until when a question waits, and what then counts as the answer. @returns undefined: it waits for ever */
export function untilText({ expiresAt, otherwise }: Pick<Question, 'expiresAt' | 'otherwise'>): string | undefined {
  if (expiresAt === undefined) return undefined
  const { decision, text, values } = otherwise ?? {}
  const added = decision === 'answer' ? ` "${preview(text ?? JSON.stringify(values ?? {}), 100)}"` : ''
  return `until ${expiresAt}${decision ? `, then ${decision}${added}` : ''}`
}

/** @example either(['a', 'b']) // 'a or b' */
export function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
