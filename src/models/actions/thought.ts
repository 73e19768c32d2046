/** What a model thinks before it answers, in the tags that open models are trained on. It is not part of the answer. */

const BEGIN = '<think>'
const END = '</think>'

/** The place where the answer begins. A thought that does not end counts as part of the answer, so nothing is lost. */
export function afterThought(text: string): number {
  const begin = text.length - text.trimStart().length
  if (!text.startsWith(BEGIN, begin)) return 0
  const end = text.indexOf(END, begin)
  if (end < 0) return 0
  const answer = end + END.length
  return text.length - text.slice(answer).trimStart().length
}

/** The same while the reply streams in. */
export class StreamingThought {
  readonly #tell: (thought: string) => void
  #state: 'before' | 'inside' | 'behind' | 'over' = 'before'
  #space: string[] = []
  /** What may be the beginning of a tag. */
  #held = ''

  constructor(tell: (thought: string) => void) {
    this.#tell = tell
  }

  /** @returns the part of the piece that belongs to the answer */
  read(piece: string): string {
    if (this.#state === 'before') return this.#before(piece)
    if (this.#state === 'inside') return this.#inside(piece)
    if (this.#state === 'behind') return this.#behind(piece)
    return piece
  }

  #before(piece: string): string {
    const text = this.#held === '' ? piece.trimStart() : this.#held + piece
    if (this.#held === '') this.#space.push(piece.slice(0, piece.length - text.length))
    this.#held = text
    if (text.length < BEGIN.length && BEGIN.startsWith(text)) return ''
    this.#held = ''
    if (text.startsWith(BEGIN)) {
      this.#state = 'inside'
      return this.#inside(text.slice(BEGIN.length))
    }
    this.#state = 'over'
    return this.#space.join('') + text
  }

  #inside(piece: string): string {
    const text = this.#held + piece
    const end = text.indexOf(END)
    const sure = end < 0 ? text.length - halfTag(text) : end
    this.#held = end < 0 ? text.slice(sure) : ''
    if (sure > 0) this.#tell(text.slice(0, sure))
    if (end < 0) return ''
    this.#state = 'behind'
    return this.#behind(text.slice(end + END.length))
  }

  #behind(piece: string): string {
    const answer = piece.trimStart()
    if (answer !== '') this.#state = 'over'
    return answer
  }
}

/** How much of the end of a text may be the beginning of the tag. */
function halfTag(text: string): number {
  for (let length = Math.min(END.length - 1, text.length); length > 0; length--) {
    if (END.startsWith(text.slice(-length))) return length
  }
  return 0
}
