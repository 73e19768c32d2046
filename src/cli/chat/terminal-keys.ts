/** Keys and pastes of a real terminal, in raw mode. Puts the terminal back as it was. */
import { EventEmitter } from 'node:events'
import { emitKeypressEvents } from 'node:readline'
import { StringDecoder } from 'node:string_decoder'
import type { Key } from './editor.ts'
import { PasteSplitter, type Sent } from './split-pastes.ts'

/** Asks the terminal to mark pastes. */
const MARK_PASTES = '\u001b[?2004h'
const MARK_NO_PASTES = '\u001b[?2004l'
/** The rest of a mark comes sooner than this. Milliseconds. */
const MARK_WITHIN_MS = 30

/** The end of a paste is lost when nothing has come for so long: the terminal would take no keys for ever. Milliseconds. */
const PASTE_ENDS_MS = 5000

/** A key, as Node's readline tells it. */
interface Pressed {
  name?: string
  ctrl?: boolean
  meta?: boolean
  sequence?: string
}

export interface Keys {
  /** Another program has the terminal meanwhile. */
  lend<T>(work: () => Promise<T>): Promise<T>
  stop(): void
}

export function readKeys(onKey: (key: Key) => void): Keys {
  const { stdin, stdout } = process
  const heard = (text: string | undefined, { name, ctrl, meta }: Pressed = {}): void => {
    onKey({
      ...(name !== undefined && { name }),
      ...(ctrl && { ctrl }),
      ...(meta && { meta }),
      ...(text !== undefined && { text }),
    })
  }
  const decoder = new StringDecoder('utf8')
  const splitter = new PasteSplitter()
  const typed = new EventEmitter()
  let waiting: NodeJS.Timeout | undefined
  let pausing: NodeJS.Immediate | undefined
  const tell = (sent: readonly Sent[]): void => {
    for (const one of sent) {
      if ('paste' in one) onKey({ name: 'paste', text: one.paste })
      else typed.emit('data', one.keys)
    }
  }
  const calm = (): void => {
    clearTimeout(waiting)
    clearImmediate(pausing)
  }
  // After a long frame the time is over although more has come already: that is read first.
  const pause = (): void => {
    pausing = setImmediate(() => tell(splitter.open ? splitter.endPaste() : splitter.giveUp()))
  }
  const read = (bytes: Buffer): void => {
    calm()
    tell(splitter.take(decoder.write(bytes)))
    waiting = setTimeout(pause, splitter.open ? PASTE_ENDS_MS : MARK_WITHIN_MS)
  }
  const take = (): void => {
    stdin.setRawMode(true)
    stdin.resume()
    stdout.write(MARK_PASTES)
  }
  const give = (): void => {
    stdout.write(MARK_NO_PASTES)
    stdin.setRawMode(false)
    stdin.pause()
  }
  // Keys are read by Node from whatever emits them.
  emitKeypressEvents(typed as NodeJS.ReadableStream)
  typed.on('keypress', heard)
  stdin.on('data', read)
  process.once('exit', give)
  take()
  return {
    async lend(work) {
      give()
      try {
        return await work()
      } finally {
        take()
      }
    },
    stop() {
      calm()
      stdin.off('data', read)
      typed.off('keypress', heard)
      process.off('exit', give)
      give()
    },
  }
}
