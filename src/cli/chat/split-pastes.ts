/**
 * Tells pastes from keys in the input of a terminal. A paste becomes one text, however long it is. A mark may arrive in two
 * pieces. Pure.
 *
 * A pasted text may hold the mark of the end itself, and not every terminal removes it. The text behind such a mark would count
 * as keys: Enter, or an answer. No person presses a key in the moment in which a paste ends, so text that comes without a pause
 * after a paste belongs to it.
 */

/** What the terminal sends before and after a paste. */
const START = '\u001b[200~'
const END = '\u001b[201~'

export type Sent = { keys: string } | { paste: string }

export class PasteSplitter {
  /** Text that is not passed on yet: in a paste the paste so far, otherwise the possible beginning of a mark. */
  #held = ''
  #inPaste = false
  /** A paste has ended, and there was no pause since. */
  #behind = false

  /** @param text as it comes, in pieces of any size */
  take(text: string): Sent[] {
    const sent: Sent[] = []
    // The end of the paste so far may be the beginning of its mark.
    let from = this.#inPaste ? Math.max(0, this.#held.length - END.length) : 0
    let rest = this.#held + text
    for (;;) {
      const { mark, at } = this.#nextMark(rest, from)
      if (at < 0) break
      const before = rest.slice(0, at)
      if (this.#inPaste) sent.push({ paste: before })
      else if (before !== '') sent.push(this.#outside(before))
      this.#behind = this.#inPaste || this.#behind
      this.#inPaste = mark === START
      rest = rest.slice(at + mark.length)
      from = 0
    }
    const outside = this.#inPaste ? '' : rest.slice(0, rest.length - begun(rest))
    if (outside !== '') sent.push(this.#outside(outside))
    this.#held = rest.slice(outside.length)
    return sent
  }

  /** A paste has begun, and its end has not come. */
  get open(): boolean {
    return this.#inPaste
  }

  /** Nothing more has come for a while, so the beginning of a paste was in truth a key, for example Escape. */
  giveUp(): Sent[] {
    if (this.#inPaste) return []
    const sent = this.#held === '' ? [] : [this.#outside(this.#held)]
    this.#held = ''
    this.#behind = false
    return sent
  }

  /** The end of a paste was lost: the text until now is the paste, and keys are keys again. */
  endPaste(): Sent[] {
    if (!this.#inPaste) return []
    const paste = this.#held
    this.#held = ''
    this.#inPaste = false
    return [{ paste }]
  }

  #nextMark(text: string, from: number): { mark: string; at: number } {
    if (this.#inPaste) return { mark: END, at: text.indexOf(END, from) }
    const start = text.indexOf(START, from)
    const end = this.#behind ? text.indexOf(END, from) : -1
    return end >= 0 && (start < 0 || end < start) ? { mark: END, at: end } : { mark: START, at: start }
  }

  #outside(text: string): Sent {
    return this.#behind ? { paste: text } : { keys: text }
  }
}

/** How much of the end of a text may be the beginning of a mark. */
function begun(text: string): number {
  for (let length = Math.min(START.length - 1, text.length); length > 0; length--) {
    if ([START, END].some((mark) => text.endsWith(mark.slice(0, length)))) return length
  }
  return 0
}
