/** What a tool may ask a person, and what comes back. */
import type { Duration } from '../core/duration.ts'
import type { JsonSchema } from '../core/model.ts'

/** A question of a tool. People see it in the inbox and answer it there. */
export interface PersonQuestion {
  /** The question itself. */
  message: string
  /** A few words above it. */
  header?: string
  /** Answers to choose from. A person may always answer in own words. */
  options?: readonly { label: string; description?: string }[]
  /** More than one option may be chosen. Default false. */
  multiSelect?: boolean
  /** The form of the answer: an object with flat properties. Unset: a text. */
  schema?: JsonSchema
  /** A longer text that the question is about, for example a plan. */
  preview?: string
  /** How long the question waits: milliseconds, or text such as `'2 days'`, at most a year. Unset: for ever. */
  expiresIn?: Duration
  /**
   * The answer when nobody has answered by then: a text, or `values` that fit the `schema`. Unset: the question then counts
   * as declined.
   */
  default?: { text?: string; values?: Readonly<Record<string, unknown>> }
}

/** A person's answer. */
export interface PersonAnswer {
  /** The answer as a text: the chosen labels, or own words. */
  text: string
  /** The answer to a question with a `schema`: it fits the schema. */
  values?: unknown
  /** The person gave no answer; `text` may say why. */
  declined?: true
  /** No person has answered in time. The answer is the question's `default`; without one, it is `declined`. */
  expired?: true
}
