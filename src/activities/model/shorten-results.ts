/**
 * Shortens old tool results, for one prompt only. Pure: the same transcript gives the same texts. The border between
 * old and new moves in wide steps, so the provider's cache of the prompt stays valid over many rounds.
 */
import { preview, type Message } from '../../core/message.ts'
import { messageTokens } from './token-estimate.ts'

/** How much of a shortened result is left at its beginning and at its end, in UTF-16 units. */
const KEPT = { head: 800, tail: 200 }
/** Shorter results stay: little would be won. */
const LEAST = 1500
/** Where even new results must be shortened. */
const HARD = { head: 3000, tail: 1000 }
/** Rounds of the current turn whose results are never old. */
const NEW_ROUNDS = 2
/** The border moves by this part of the window at once. */
const STEPS = 10

export interface Shortening {
  /** How many tokens at the end of the transcript are new. */
  keep: number
  /** The tokens of the window, by which the border's steps are measured. */
  window: number
}

/** The transcript with old results shortened. All other messages are the same objects. */
export function shortenOld(messages: readonly Message[], { keep, window }: Shortening): Message[] {
  const border = borderOf(messages, { keep, window })
  return messages.map((message, index) => (index < border ? shorten(message, KEPT) : message))
}

/**
 * A provider has refused the prompt: all results are shortened.
 *
 * @param times how often it has refused
 */
export function shortenAll(messages: readonly Message[], times: number): Message[] {
  const newest = newestRounds(messages)
  return messages.map((message, index) =>
    index < newest || times > 2 ? shorten(message, KEPT) : shorten(message, HARD),
  )
}

/** Index of the first message that is new. */
function borderOf(messages: readonly Message[], { keep, window }: Shortening): number {
  const total = messages.reduce((sum, message) => sum + messageTokens(message), 0)
  const step = Math.max(1, Math.floor(window / STEPS))
  const old = Math.floor((total - keep) / step) * step
  let [sum, border] = [0, 0]
  for (const message of messages) {
    sum += messageTokens(message)
    if (sum > old) break
    border++
  }
  return Math.min(border, newestRounds(messages))
}

function newestRounds(messages: readonly Message[]): number {
  let rounds = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    if (messages[index]?.toolCalls?.length && ++rounds === NEW_ROUNDS) return index
  }
  return 0
}

const shortened = new WeakMap<Message, Map<number, Message>>()

/** Made once per message, so that the estimate of it is made once too. */
function shorten(message: Message, kept: typeof KEPT): Message {
  const { role, content, parts } = message
  const images = parts?.filter(({ type }) => type === 'image').length ?? 0
  if (role !== 'tool' || (content.length <= Math.max(LEAST, kept.head + kept.tail) && images === 0)) return message
  const before = shortened.get(message)?.get(kept.head)
  if (before) return before
  const { parts: _left, ...rest } = message
  const made: Message = { ...rest, content: textOf(message, images, kept) }
  const all = shortened.get(message) ?? new Map<number, Message>()
  shortened.set(message, all.set(kept.head, made))
  return made
}

function textOf({ content, name }: Message, images: number, { head, tail }: typeof KEPT): string {
  const pictures = images === 0 ? '' : `${images === 1 ? 'a picture' : `${images} pictures`} of this result`
  const fits = content.length <= Math.max(LEAST, head + tail)
  const left = fits ? '' : `${content.length - head - tail} of ${content.length} characters`
  const what = [left, pictures].filter(Boolean).join(' and ')
  const note = `[… ${what} are left out here, as the conversation has grown long. Ask ${name ?? 'the tool'} again for what you need of it …]`
  if (fits) return `${content}\n${note}`
  // `preview` never ends in half a character.
  return `${preview(content, head)}\n${note}\n${endOf(content, tail)}`
}

function endOf(text: string, length: number): string {
  const end = text.slice(-length)
  return /^[\uDC00-\uDFFF]/.test(end) ? end.slice(1) : end
}
