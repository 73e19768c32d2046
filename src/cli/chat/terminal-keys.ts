/** Keys of a real terminal, in raw mode and with pastes marked. Puts the terminal back as it was. */
import { emitKeypressEvents } from 'node:readline'
import type { Key } from './editor.ts'

/** The terminal marks what is pasted. */
const MARK_PASTES = '\u001b[?2004h'
const MARK_NO_PASTES = '\u001b[?2004l'

/** What Node's readline tells of a key. */
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
  emitKeypressEvents(stdin)
  stdin.on('keypress', heard)
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
      stdin.off('keypress', heard)
      process.off('exit', give)
      give()
    },
  }
}
