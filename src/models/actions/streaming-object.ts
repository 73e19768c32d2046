/**
 * The calls in one object that streams in: their names, and their arguments as far as they have come. It knows the same
 * forms as `call-forms.ts`. In the end, `call-forms.ts` alone decides what was called.
 */
import type { ToolSpec } from '../../core/model.ts'
import { ARGUMENTS, mayHoldParams, NAMES } from './call-forms.ts'
import { JsonWalk, type Token } from './json-walk.ts'

export interface StreamingCall {
  name: string
  own: boolean
  /** The arguments that have come since they were last taken. */
  fresh: string
  /** Its arguments have begun, so it is certainly a call. */
  sure: boolean
  /** In our own form, its arguments are in `params`. */
  nested?: boolean
}

interface Frame {
  kind: 'call' | 'calls'
  call: StreamingCall
  /** The key whose value comes next; undefined if a key comes next. */
  key?: string
  keys: number
  top: boolean
}

/** A value that is being read, and where its tokens go. */
interface Value {
  depth: number
  take(token: Token): void
  end(): void
}

const NAME_LIMIT = 64
const nothing = (): void => undefined

export class StreamingObject {
  readonly calls: StreamingCall[] = []
  readonly #walk = new JsonWalk((token) => this.#take(token))
  readonly #tools: readonly ToolSpec[]
  readonly #frames: Frame[] = []
  #value: Value | undefined

  /** @param name the tool, if a mark names it. The object then holds the tool's arguments */
  constructor(tools: readonly ToolSpec[], name?: string) {
    this.#tools = tools
    if (name === undefined) return
    const call = { name, own: false, fresh: '', sure: true }
    this.calls.push(call)
    this.#value = { depth: 0, take: (token) => void (call.fresh += token.text), end: nothing }
  }

  get ended(): boolean {
    return this.#walk.ended
  }

  /** Nested deeper than any object that is read. */
  get tooDeep(): boolean {
    return this.#walk.tooDeep
  }

  /** @returns where the object ended, or the length of the text */
  read(text: string, from: number): number {
    return this.#walk.read(text, from)
  }

  #take(token: Token): void {
    if (this.#value) return this.#into(this.#value, token)
    const frame = this.#frames.at(-1)
    if (!frame) return this.#open(newCall(), true)
    const { kind, text } = token
    if (kind === 'mark' && (text === '}' || text === ']')) return this.#close(frame)
    if (frame.kind === 'calls') {
      if (kind !== 'mark') this.#read(token, nothing)
      else if (text === '{') this.#open(newCall(), false)
      else if (text !== ',') this.#read(token, nothing)
      return
    }
    if (kind === 'mark' && text === ',') delete frame.key
    else if (frame.key === undefined) this.#readText(token, (key) => this.#key(frame, key))
    else if (text !== ':' || kind !== 'mark') this.#begin(frame, frame.key, token)
  }

  #open(call: StreamingCall, top: boolean): void {
    this.#frames.push({ kind: 'call', call, keys: 0, top })
    if (!this.calls.includes(call)) this.calls.push(call)
  }

  #close({ call, top, kind }: Frame): void {
    this.#frames.pop()
    if (!top || kind !== 'call' || !call.own) return
    if (!call.nested) call.fresh += call.sure ? '}' : '{}'
    call.sure = true
  }

  #key(frame: Frame, key: string): void {
    frame.key = key
    frame.keys++
    const { call } = frame
    if (!call.own) return
    if (!call.sure && key === 'params' && !mayHoldParams(call.name, this.#tools)) call.nested = true
    if (!call.nested) call.fresh += `${call.sure ? ',' : '{'}${JSON.stringify(key)}:`
    call.sure = true
  }

  #begin(frame: Frame, key: string, token: Token): void {
    const { call, top, keys } = frame
    const write = ({ text }: Token): void => void (call.fresh += text)
    if (call.own) return this.#read(token, call.nested && key !== 'params' ? nothing : write)
    if (top && key === 'action' && keys === 1) {
      return this.#readText(token, (name) => void Object.assign(call, { name, own: true }))
    }
    if (top && key === 'tool_calls' && token.text === '[') {
      this.calls.length = 0
      return void this.#frames.push({ kind: 'calls', call, keys: 0, top: false })
    }
    if (key === 'function' && token.text === '{')
      return void this.#frames.push({ kind: 'call', call, keys: 0, top: false })
    if (NAMES.includes(key)) return this.#readText(token, (name) => void (call.name = name))
    if (!ARGUMENTS.includes(key)) return this.#read(token, nothing)
    call.sure = true
    if (token.kind !== 'quote') return this.#read(token, write)
    const inner = new JsonWalk(write)
    this.#read(token, (one) => void (one.kind === 'chars' && inner.read(one.value)))
  }

  #readText(token: Token, then: (text: string) => void): void {
    let read = ''
    this.#read(
      token,
      (one) => void (one.kind === 'chars' && read.length <= NAME_LIMIT && (read += one.value)),
      () => then(read),
    )
  }

  #read(first: Token, take: (token: Token) => void, end = nothing): void {
    this.#value = { depth: 0, take, end }
    this.#into(this.#value, first)
  }

  #into(value: Value, token: Token): void {
    const { kind, text } = token
    value.take(token)
    if (kind === 'mark' && '{['.includes(text)) value.depth++
    if (kind === 'quote') value.depth += token.opens ? 1 : -1
    if (kind === 'mark' && '}]'.includes(text)) value.depth--
    if (value.depth > 0 || kind === 'chars') return
    this.#value = undefined
    value.end()
  }
}

function newCall(): StreamingCall {
  return { name: '', own: false, fresh: '', sure: false }
}
