/** The limit of one answer of a model. Without it, a model that repeats itself without end would fill the memory. */
import { StelloError } from '../../core/errors.ts'

/**
 * Longest answer in UTF-16 units: text, and ids, names and arguments of its calls. The longest real answers are a tenth
 * of it.
 */
export const ANSWER_LIMIT: number = 4 * 1024 * 1024

/** Counts how much of an answer has arrived. It does not read the text. */
export class AnswerSize {
  readonly #model: string
  #size = 0

  /** @param model its name, for the error */
  constructor(model: string) {
    this.#model = model
  }

  /** @throws StelloError MODEL_BAD_ANSWER when the answer is too long */
  add(...texts: string[]): void {
    // An empty piece takes room too.
    for (const text of texts) this.#size += text.length + 1
    if (this.#size > ANSWER_LIMIT) throw tooLong(this.#model)
  }
}

/** The answer is given up and not requested again: it would cost the same again, and would hardly be shorter. */
export function tooLong(model: string): StelloError {
  return new StelloError(
    'MODEL_BAD_ANSWER',
    `model ${model}: the answer grew beyond ${ANSWER_LIMIT / 1024 / 1024} Mi characters and was broken off`,
    { hint: 'limit the tokens of one answer (maxTokens of the model), then resume the session' },
  )
}
