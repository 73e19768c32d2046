/** The terminal that a chat is drawn on: finished items are written once, the rest is drawn again below them. */
import type { Chat } from './create-chat.ts'
import { itemLines } from './item-lines.ts'
import { liveLines } from './live-lines.ts'
import { NO_FRAME, isSameFrame, redrawn, type Frame } from './terminal-frame.ts'

/** The shortest time between two drawings. Milliseconds. */
const DRAW_EVERY_MS = 40
/** The time between two drawings while something runs or waits, so that its seconds count. Milliseconds. */
const TICK_MS = 200
/** The past has been read when nothing more has come for this long. Milliseconds. */
const QUIET_MS = 300
/** How many screens of the past are shown. */
const SCREENS = 3

export interface Screen {
  /** Something has changed. */
  draw(): void
  /** A session is shown from here on; of its past only the end. */
  catchUp(isNew: boolean): void
  /** More of the past, or something new, has come. */
  heard(): void
  /** Another program has the screen meanwhile. */
  lend<T>(work: () => Promise<T>): Promise<T>
  close(): void
}

export function openScreen(chat: Chat): Screen {
  const { stdout } = process
  const size = (): { columns: number; rows: number } => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 })
  let shown = { frame: NO_FRAME, columns: size().columns }
  let done = 0
  let catching: NodeJS.Timeout | undefined
  let waiting: NodeJS.Timeout | undefined
  let isLent = false

  const show = (printed: readonly string[], frame: Frame): void => {
    const { columns } = size()
    if (printed.length === 0 && columns === shown.columns && isSameFrame(shown.frame, frame)) return
    stdout.write(redrawn(shown.frame, { printed, frame }, columns))
    shown = { frame, columns }
  }
  const width = (): number => Math.max(10, size().columns - 1)
  /** The lines of what has been finished since. */
  const finished = (): string[] => {
    const { items } = chat.state.conversation
    if (catching) return []
    const lines = items.slice(done).flatMap((item) => itemLines(item, width()))
    done = items.length
    return lines
  }
  const paint = (): void => {
    waiting = undefined
    if (!isLent) show(finished(), liveLines(chat.state, size(), new Date()))
  }
  const draw = (): void => {
    waiting ??= setTimeout(paint, DRAW_EVERY_MS)
  }
  /** Only the end of the past is laid out: a session may be long. */
  const caughtUp = (): void => {
    catching = undefined
    const { items } = chat.state.conversation
    let from = items.length
    for (let lines = 0; from > done && lines < size().rows * SCREENS; from--)
      lines += itemLines(items[from - 1] ?? { kind: 'note', text: '' }, width()).length
    const left = from - done
    done = from
    if (left > 0 && !isLent) show([`… ${left} earlier items; /transcript shows all`], shown.frame)
    draw()
  }
  const ticking = setInterval(() => {
    if (chat.state.conversation.turn !== undefined || chat.state.panel) draw()
  }, TICK_MS)
  stdout.on('resize', draw)
  draw()
  return {
    draw,
    catchUp(isNew) {
      clearTimeout(catching)
      catching = isNew ? undefined : setTimeout(caughtUp, QUIET_MS)
    },
    heard() {
      catching?.refresh()
    },
    async lend(work) {
      isLent = true
      show([], NO_FRAME)
      try {
        return await work()
      } finally {
        isLent = false
        draw()
      }
    },
    close() {
      clearTimeout(waiting)
      clearInterval(ticking)
      clearTimeout(catching)
      catching = undefined
      stdout.off('resize', draw)
      show(finished(), NO_FRAME)
    },
  }
}
