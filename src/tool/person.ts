/** What a tool may ask a person, and what comes back. */
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
}

/** A person's answer. */
export interface PersonAnswer {
  /** The answer as a text: the chosen labels, or own words. */
  text: string
  /** The answer to a question with a `schema`: it fits the schema. */
  values?: unknown
  /** The person gave no answer; `text` may say why. */
  declined?: true
}
