/** The terminal that a chat is drawn on, by Ink. Loads Ink and React, so only a chat on a terminal may import it. */
import type { Chat } from './create-chat.ts'
import { itemLines } from './item-lines.ts'
import { liveLines } from './live-lines.ts'
import type { Printed } from './chat-view.tsx'

/** At most so often. Milliseconds. */
const DRAW_EVERY_MS = 40
/** So often while something runs, for the seconds that are counted. */
const TICK_MS = 200
/** The past has been read when nothing more has come for this long. Milliseconds. */
const QUIET_MS = 300
/** Of the past, so many screens are shown. */
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

export async function openScreen(chat: Chat): Promise<Screen> {
  // React's development build measures all that it does, and Ink draws nothing live where it takes the terminal for a CI's.
  process.env['NODE_ENV'] ??= 'production'
  process.env['CI'] = 'false'
  const [{ render }, { createElement }, { ChatView }] = await Promise.all([
    import('ink'),
    import('react'),
    import('./chat-view.tsx'),
  ])
  const { stdout } = process
  const size = (): { columns: number; rows: number } => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 })
  let printed: Printed[] = []
  let done = 0
  let catching: NodeJS.Timeout | undefined
  let frame: NodeJS.Timeout | undefined
  let isLent = false
  let isOver = false

  const print = (): void => {
    const { items } = chat.state.conversation
    if (catching || done === items.length) return
    const width = Math.max(10, size().columns - 1)
    const texts = items.slice(done).map((item) => itemLines(item, width).join('\n'))
    printed = [...printed, ...texts.map((text, at) => ({ id: done + at, text }))]
    done = items.length
  }
  /** Only the end of the past is laid out: a session may be long. */
  const skipPast = (): void => {
    const { items } = chat.state.conversation
    const { columns, rows } = size()
    let from = items.length
    for (let lines = 0; from > done && lines < rows * SCREENS; from--)
      lines += itemLines(items[from - 1] ?? { kind: 'note', text: '' }, columns - 1).length
    const left = from - done
    done = from
    if (left > 0) printed = [...printed, { id: from - 1, text: `… ${left} earlier items; /transcript shows all` }]
  }
  const view = (): ReturnType<typeof createElement> =>
    createElement(ChatView, { printed, live: liveLines(chat.state, size(), new Date()) })
  const paint = (): void => {
    frame = undefined
    if (isLent || isOver) return
    print()
    ink.rerender(view())
  }
  const draw = (): void => {
    frame ??= setTimeout(paint, DRAW_EVERY_MS)
  }
  const ticking = setInterval(() => {
    if (chat.state.conversation.turn !== undefined) draw()
  }, TICK_MS)
  const caughtUp = (): void => {
    catching = undefined
    skipPast()
    draw()
  }

  const ink = render(view(), { exitOnCtrlC: false, patchConsole: false })
  stdout.on('resize', draw)
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
      ink.clear()
      try {
        return await work()
      } finally {
        isLent = false
        draw()
      }
    },
    close() {
      clearTimeout(frame)
      clearInterval(ticking)
      clearTimeout(catching)
      catching = undefined
      stdout.off('resize', draw)
      print()
      ink.rerender(createElement(ChatView, { printed, live: { lines: [], cursor: { x: 0, y: 0 } } }))
      isOver = true
      ink.unmount()
    },
  }
}
