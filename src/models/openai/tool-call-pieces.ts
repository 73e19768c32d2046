/** Puts the tool calls of a streamed answer together from their pieces, in whatever way a server marks the pieces. */
import { CallIds } from '../../core/call-ids.ts'
import { isObject } from '../../core/is-object.ts'
import type { ToolCall } from '../../core/message.ts'
import type { ModelDelta } from '../../core/model.ts'

/** More calls than any model makes at once. A server that streams without end must not open calls without end. */
const MOST_CALLS = 1000

/** What a server sends; any field may be missing, null or empty. */
interface Piece {
  index: number | undefined
  id: string
  name: string
  arguments: string
}

interface Open extends ToolCall {
  place: number
  /** The server's id. Ours may differ, because servers repeat ids or leave them out. */
  given: string
  index: number | undefined
  /** The call was reported. This waits for the name, which may come late. */
  told: boolean
  end: ObjectEnd
}

export class ToolCallPieces {
  /** By the place of a call, what the server wants back with it. */
  readonly extras: unknown[] = []
  readonly #calls: Open[] = []
  /** The last call with an id of the server, with an index, and with both: an answer may have many thousand pieces. */
  readonly #byId = new Map<string, Open>()
  readonly #byIndex = new Map<number, Open>()
  readonly #byBoth = new Map<string, Open>()
  readonly #ids = new CallIds()

  get calls(): ToolCall[] {
    return this.#calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }))
  }

  /** Whether all calls have a name and their arguments seem to be complete. */
  get complete(): boolean {
    return this.#calls.every(
      ({ name, arguments: args, end }) => name !== '' && (args.trim() === '' || end.isWhole(args)),
    )
  }

  /**
   * @returns the piece as it is reported; undefined as long as the call has no name, for a call that is repeated, and
   *   for a call beyond the limit
   */
  add(given: unknown): ModelDelta | undefined {
    const piece = readPiece(given)
    const found = this.#find(piece)
    const call = found && this.#begins(piece, found) ? undefined : found
    if (call ? isRepeated(piece, call) : this.#calls.length >= MOST_CALLS) return undefined
    const at = call ?? this.#open(piece)
    const index = at.place
    const extra: unknown = isObject(given) ? given['extra_content'] : undefined
    if (isObject(extra)) this.extras[index] = extra
    at.name ||= piece.name
    at.arguments += piece.arguments
    at.end.read(piece.arguments)
    if (at.told) return { type: 'toolCall', index, arguments: piece.arguments }
    if (at.name === '') return undefined
    at.told = true
    return { type: 'toolCall', index, id: at.id, name: at.name, arguments: at.arguments }
  }

  /**
   * The call that a piece belongs to. It is found by the index, or by the id if the index is missing or the same for
   * all calls. A piece without both belongs to the call that came last.
   */
  #find({ index, id, name }: Piece): Open | undefined {
    const same = id === '' ? undefined : this.#byBoth.get(`${index} ${id}`)
    if (same) return same
    const sameIndex = index === undefined ? undefined : this.#byIndex.get(index)
    if (sameIndex && (id === '' || name === '' || sameIndex.given === '')) return sameIndex
    const sameId = id === '' ? undefined : this.#byId.get(id)
    // A new index with a name is a new call, even if its id is not new.
    if (sameId && (index === undefined || sameIndex || name === '')) return sameId
    return index === undefined && id === '' ? this.#calls.at(-1) : undefined
  }

  /**
   * Whether a piece that seems to belong to a call is the beginning of another call. Only a piece with a name can be.
   */
  #begins({ id, name, arguments: args }: Piece, call: Open): boolean {
    if (name === '' || call.name === '') return false
    if (name !== call.name) return true
    const another = args.trimStart().startsWith('{') && call.end.isWhole(call.arguments)
    return another && !(id !== '' && id === call.given && args === call.arguments)
  }

  #open({ index, id }: Piece): Open {
    const at = this.#calls.length
    const own = { id: this.#ids.take(id || `call_${at}`), name: '', arguments: '' }
    const call = { ...own, place: at, given: id, index, told: false, end: new ObjectEnd() }
    this.#calls.push(call)
    this.#byId.set(id, call)
    this.#byBoth.set(`${index} ${id}`, call)
    if (index !== undefined) this.#byIndex.set(index, call)
    this.extras[at] = null
    return call
  }
}

/** Whether the server sends a whole call once more. */
function isRepeated({ id, name, arguments: args }: Piece, call: Open): boolean {
  return id !== '' && id === call.given && name === call.name && args === call.arguments && isWhole(args)
}

function readPiece(given: unknown): Piece {
  const { index, id, function: called } = isObject(given) ? given : {}
  const { name, arguments: args } = isObject(called) ? called : {}
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : '',
    arguments: toText(args),
  }
}

/** Some servers send the arguments as an object instead of text. */
export function toText(args: unknown): string {
  if (args === undefined || args === null) return ''
  return typeof args === 'string' ? args : JSON.stringify(args)
}

/**
 * Finds the end of an object that comes in pieces. Each piece is read once. The text is parsed only if the object has
 * ended. Otherwise the whole text would be parsed with each chunk, if a server sends the name in every chunk.
 */
class ObjectEnd {
  #depth = 0
  #quoted = false
  #escaped = false
  #ends = 0

  read(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      const char = piece[at]
      if (this.#escaped) this.#escaped = false
      else if (this.#quoted && char === '\\') this.#escaped = true
      else if (char === '"') this.#quoted = !this.#quoted
      else if (!this.#quoted && char === '{') this.#depth++
      else if (!this.#quoted && char === '}' && --this.#depth === 0) this.#ends++
    }
  }

  /** @param text all that was read */
  isWhole(text: string): boolean {
    return this.#ends === 1 && this.#depth === 0 && isWhole(text)
  }
}

function isWhole(args: string): boolean {
  if (!args.trimEnd().endsWith('}')) return false
  try {
    return isObject(JSON.parse(args))
  } catch {
    return false
  }
}
