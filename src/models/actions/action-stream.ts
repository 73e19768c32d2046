/**
 * Shows the reply of a text model while it streams in: its reasoning, its prose, and the arguments of the calls that it
 * begins to write. `readActions` alone decides what was called, when the reply is whole. What was not shown until then
 * is shown then. This file must never show an action as text, and must never read a text twice that may be long.
 */
import type { ToolCall } from '../../core/message.ts'
import type { ModelDelta, ToolSpec } from '../../core/model.ts'
import { readCalls } from './call-forms.ts'
import { LIST_GLUE, mayOpen, OPENING_LIMIT, openingBefore, type Opening } from './call-marks.ts'
import { parseObject } from './extract-json.ts'
import { beginsLikeObject } from './json-candidates.ts'
import { StreamingObject } from './streaming-object.ts'
import { StreamingThought } from './thought.ts'
import { ToldCalls, type Place } from './told-calls.ts'

interface Reading extends Place {
  object: StreamingObject
  /** The text of the object. It is kept as long as the object may turn out to be no action. */
  source?: string[]
}

export class ActionStream {
  readonly #tell: (delta: ModelDelta) => void
  readonly #tools: readonly ToolSpec[]
  readonly #thought: StreamingThought
  readonly #calls: ToldCalls
  /** The length of the text that was told. */
  #told = 0
  /** What was not told yet: space, half a mark, an object, and everything behind an action. */
  #held: string[] = []
  /** An action may have begun: only the end of the reply shows what is text. */
  #holding = false
  #reading: Reading | undefined
  /** The last characters that stand in no object. */
  #window = ''
  /** How many fences of code began or ended, and how many backticks came last. */
  #fences = 0
  #ticks = 0
  /** What follows the last object; undefined if it is longer than any opening. */
  #gap: string | undefined = ''
  /** The last object may have been meant as a call. */
  #goesOn = false

  /** @param idPrefix as it is given to `readActions` */
  constructor(tell: (delta: ModelDelta) => void, tools: readonly ToolSpec[], idPrefix: string) {
    this.#tell = tell
    this.#tools = tools
    this.#calls = new ToldCalls(tell, tools, idPrefix)
    this.#thought = new StreamingThought((text) => tell({ type: 'reasoning', text }))
  }

  add(delta: ModelDelta): void {
    if (delta.type === 'reasoning') this.#tell(delta)
    if (delta.type !== 'text') return
    const text = this.#thought.read(delta.text)
    if (this.#tools.length === 0) return this.#say(text)
    for (let at = 0; at < text.length;)
      at = this.#reading ? this.#inObject(this.#reading, text, at) : this.#prose(text, at)
  }

  /** @param content the text of the whole reply, without thoughts and actions */
  end(content: string, toolCalls: readonly ToolCall[]): void {
    this.#say(content.slice(this.#told))
    this.#calls.end(toolCalls)
  }

  /** @returns where an object begins, or the length of the text */
  #prose(text: string, from: number): number {
    const brace = text.indexOf('{', from)
    const end = brace < 0 ? text.length : brace
    const piece = text.slice(from, end)
    this.#held.push(piece)
    this.#countFences(piece)
    const seen = this.#window + piece
    this.#window = seen.slice(-OPENING_LIMIT)
    if (this.#gap !== undefined) this.#gap = this.#gap.length > OPENING_LIMIT ? undefined : this.#gap + piece
    const opening = brace < 0 ? undefined : openingBefore(this.#window, this.#window.length)
    // A piece of nothing but space changes nothing, and there may be many of them.
    if (!this.#holding && (opening || piece.trim() !== '')) {
      this.#tellAllBut(opening ? this.#window.length - opening.proseEnd : seen.length - mayOpen(seen))
    }
    if (opening) this.#begin(opening)
    return end
  }

  #begin(opening: Opening): void {
    const follows = this.#follows(opening)
    if (!follows) this.#calls.proseFollows()
    const marked = opening.marked && !opening.quoted && this.#fences % 2 === 0
    const aside = opening.fenced || /(?:^|[\r\n]|<\/think>)[ \t]*$/.test(this.#window.slice(0, opening.at)) || follows
    const object = new StreamingObject(this.#tools, opening.name)
    this.#reading = { object, marked, aside, ...(!this.#holding && { source: [] }) }
    this.#holding = true
  }

  /** Whether the next object continues a list of calls. */
  #follows({ at }: Opening): boolean {
    const gap = this.#gap?.slice(0, Math.max(0, this.#gap.length - (this.#window.length - at)))
    return this.#goesOn && gap !== undefined && LIST_GLUE.test(gap)
  }

  #inObject(reading: Reading, text: string, from: number): number {
    const { object, source } = reading
    const end = object.read(text, from)
    const piece = text.slice(from, end)
    source?.push(piece)
    this.#held.push(piece)
    const meant = this.#calls.tell(object.calls, reading)
    if (!object.ended) return end
    if (source && !reading.marked && isText(object, source.join(''))) {
      this.#holding = false
      this.#tellAllBut(0)
    }
    this.#reading = undefined
    this.#window = '}'
    this.#gap = ''
    this.#ticks = 0
    this.#goesOn = meant
    return end
  }

  #countFences(prose: string): void {
    for (const char of prose) {
      this.#ticks = char === '`' ? this.#ticks + 1 : 0
      if (this.#ticks < 3) continue
      this.#fences++
      this.#ticks = 0
    }
  }

  /** @param last how many characters may belong to an action */
  #tellAllBut(last: number): void {
    const held = this.#held.join('')
    const sure = held.slice(0, Math.max(0, held.length - last)).trimEnd()
    this.#held = [held.slice(sure.length)]
    this.#say(sure)
  }

  #say(text: string): void {
    this.#told += text.length
    if (text !== '') this.#tell({ type: 'text', text })
  }
}

/** Whether an object is certainly no action, however the reply goes on. */
function isText({ tooDeep, calls }: StreamingObject, source: string): boolean {
  if (tooDeep || calls.some(({ sure, name }) => sure && name !== '')) return false
  const object = parseObject(source)
  return object ? readCalls(object, { tools: [], marked: false }).length === 0 : !beginsLikeObject(source)
}
