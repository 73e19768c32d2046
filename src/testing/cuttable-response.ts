/** An HTTP response that can be made to break off after so many bytes of its body. */
import type { ServerResponse } from 'node:http'

export class CuttableResponse {
  readonly #response: ServerResponse
  /** How many bytes are still sent before the connection breaks; undefined when it does not break. */
  #left: number | undefined

  constructor(response: ServerResponse, cutAfter?: number) {
    this.#response = response
    this.#left = cutAfter
  }

  get begun(): boolean {
    return this.#response.headersSent
  }

  head(status: number, headers: Record<string, string>): void {
    if (this.#response.destroyed) return
    if (this.#left === 0) this.#response.destroy()
    else this.#response.writeHead(status, headers)
  }

  write(text: string): void {
    if (this.#response.destroyed || this.#left === 0) return
    const bytes = Buffer.from(text).subarray(0, this.#left)
    if (this.#left !== undefined) this.#left -= bytes.length
    this.#response.write(bytes, () => {
      if (this.#left === 0) this.#response.destroy()
    })
  }

  end(): void {
    if (this.#left === undefined) this.#response.end()
    // An answer that is shorter than the cut breaks off at its end: it is sent, but never closed.
    else if (this.#left > 0) this.#response.write('', () => this.#response.destroy())
  }

  /**
   * The answer is sent in chunks, without a length: then the other side notices a missing end wherever the answer
   * breaks off.
   */
  json(status: number, headers: Record<string, string>, body: unknown): void {
    this.head(status, { 'content-type': 'application/json', ...headers })
    this.write(typeof body === 'string' ? body : JSON.stringify(body))
    this.end()
  }
}
