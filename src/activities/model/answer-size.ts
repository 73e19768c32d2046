/** How much one answer of a model may hold. Without an end to it, one that goes round in circles would fill the memory. */
import { StelloError } from '../../core/errors.ts'

/**
 * Text, and ids, names and arguments of the calls, of one answer, in UTF-16 units. The longest answers of models are a
 * tenth of it.
 */
export const ANSWER_LIMIT: number = 4 * 1024 * 1024

/** Counts what has come of an answer; the text itself is not looked at. */
export class AnswerSize {
  readonly #model: string
  #size = 0

  /** @param model its name, for the error */
  constructor(model: string) {
    this.#model = model
  }

  /** @throws StelloError MODEL_BAD_ANSWER when that was too much */
  add(...texts: string[]): void {
    // A text without a character takes room too.
    for (const text of texts) this.#size += text.length + 1
    if (this.#size > ANSWER_LIMIT) throw tooLong(this.#model)
  }
}

/** The answer is given up, not asked for again: it would be paid once more, and hardly be shorter. */
export function tooLong(model: string): StelloError {
  return new StelloError(
    'MODEL_BAD_ANSWER',
    `model ${model}: the answer grew beyond ${ANSWER_LIMIT / 1024 / 1024} Mi characters and was broken off`,
    { hint: 'limit the tokens of one answer (maxTokens of the model), then resume the session' },
  )
}
