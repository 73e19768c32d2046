/**
 * Tells pastes from keys in what a terminal sends. A paste is one text then, however long it is. A mark may arrive in two
 * pieces. Pure.
 */

/** What the terminal sends before and after a paste. */
const START = '\u001b[200~'
const END = '\u001b[201~'

export type Sent = { keys: string } | { paste: string }

export class PasteSplitter {
  /** What is not told yet: in a paste its text so far, else what may be the beginning of a mark. */
  #held = ''
  #inPaste = false

  /** @param text as it comes, in pieces of any size */
  take(text: string): Sent[] {
    const sent: Sent[] = []
    // The end of the paste so far may be the beginning of its mark.
    let from = this.#inPaste ? Math.max(0, this.#held.length - END.length) : 0
    let rest = this.#held + text
    for (;;) {
      const mark = this.#inPaste ? END : START
      const at = rest.indexOf(mark, from)
      if (at < 0) break
      const before = rest.slice(0, at)
      if (this.#inPaste) sent.push({ paste: before })
      else if (before !== '') sent.push({ keys: before })
      this.#inPaste = !this.#inPaste
      rest = rest.slice(at + mark.length)
      from = 0
    }
    const keys = this.#inPaste ? '' : rest.slice(0, rest.length - begun(rest))
    if (keys !== '') sent.push({ keys })
    this.#held = rest.slice(keys.length)
    return sent
  }

  /** Nothing more has come for a while: what looked like the beginning of a paste was a key, for example Escape. */
  giveUp(): Sent[] {
    if (this.#inPaste || this.#held === '') return []
    const keys = this.#held
    this.#held = ''
    return [{ keys }]
  }
}

/** How much of the end of a text may be the beginning of a paste's mark. */
function begun(text: string): number {
  for (let length = Math.min(START.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(START.slice(0, length))) return length
  }
  return 0
}
