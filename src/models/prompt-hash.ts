/** Hashes what an answer is bound to: everything that is sent before it. */
import { createHash } from 'node:crypto'

export class PromptHash {
  readonly #hash
  #read = 0

  /** @param head what stands before all messages: system prompt, tools */
  constructor(head: unknown) {
    this.#hash = createHash('sha256').update(JSON.stringify(head))
  }

  /**
   * A long transcript is read once, turn by turn.
   *
   * @param turns those of the call before, and more; the last may still grow, if it is an assistant's
   */
  hash(turns: readonly { role: string }[]): string {
    const done = turns.at(-1)?.role === 'assistant' ? turns.length - 1 : turns.length
    for (; this.#read < done; this.#read++) this.#hash.update(JSON.stringify(turns[this.#read]))
    const hash = this.#hash.copy()
    for (const turn of turns.slice(done)) hash.update(JSON.stringify(turn))
    return hash.digest('base64url')
  }
}
