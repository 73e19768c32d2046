/** Hashes everything that is sent before an answer. Some models bind their reasoning to exactly this. */
import { createHash } from 'node:crypto'

export class PromptHash {
  readonly #hash
  #read = 0

  /** @param head what stands before all messages: system prompt, tools */
  constructor(head: unknown) {
    this.#hash = createHash('sha256').update(JSON.stringify(head))
  }

  /**
   * Reads only the turns that are new since the previous call, so a long transcript is read once.
   *
   * @param turns the turns of the previous call, and perhaps more. The last one may still grow if it is an assistant's
   */
  hash(turns: readonly { role: string }[]): string {
    const done = turns.at(-1)?.role === 'assistant' ? turns.length - 1 : turns.length
    for (; this.#read < done; this.#read++) this.#hash.update(JSON.stringify(turns[this.#read]))
    const hash = this.#hash.copy()
    for (const turn of turns.slice(done)) hash.update(JSON.stringify(turn))
    return hash.digest('base64url')
  }
}
