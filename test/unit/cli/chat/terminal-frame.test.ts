/** What is drawn at the end of a terminal, as a real one shows it. */
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { NO_FRAME, redrawn, type Frame } from '../../../../src/cli/chat/terminal-frame.ts'

interface View {
  write(text: string, done: () => void): void
  resize(columns: number, rows: number): void
  readonly buffer: {
    readonly active: {
      readonly length: number
      readonly cursorX: number
      readonly cursorY: number
      readonly baseY: number
      getLine(at: number): { translateToString(trimmed: boolean): string } | undefined
    }
  }
}
const xterm = createRequire(import.meta.url)('@xterm/headless') as { Terminal: new (options: object) => View }

function terminal(columns: number): {
  view: View
  draw: (printed: string[], frame: Frame, columns?: number) => Promise<void>
  lines: () => string[]
} {
  const view = new xterm.Terminal({ cols: columns, rows: 10, convertEol: true, allowProposedApi: true })
  let before = NO_FRAME
  return {
    view,
    draw: async (printed, frame, now = columns) => {
      const text = redrawn(before, { printed, frame }, now)
      before = frame
      await new Promise<void>((resolve) => view.write(text, resolve))
    },
    lines: () => {
      const { active } = view.buffer
      const all = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? '')
      return all.slice(0, all.findLastIndex((line) => line !== '') + 1)
    },
  }
}

const frame = (lines: string[], x: number, y: number): Frame => ({ lines, cursor: { x, y } })

it('what is printed stands above once, the frame below it once, and the cursor where a person types', async () => {
  const { view, draw, lines } = terminal(20)
  await draw([], frame(['working', '> ab', 'status'], 4, 1))
  await draw(['one', 'two'], frame(['> 漢字', 'status'], 6, 0))
  expect(lines()).toEqual(['one', 'two', '> 漢字', 'status'])
  await draw(['three'], frame(['a', 'b', 'c', '> d'], 3, 3))
  expect(lines()).toEqual(['one', 'two', 'three', 'a', 'b', 'c', '> d'])
  const { cursorX, cursorY } = view.buffer.active
  expect([cursorX, cursorY]).toEqual([3, 6])
})

it('nothing of a frame stays when its end is the end of the program', async () => {
  const { view, draw, lines } = terminal(20)
  await draw(['kept'], frame(['working', '> x'], 3, 1))
  await draw(['last'], NO_FRAME)
  expect(lines()).toEqual(['kept', 'last'])
  expect(view.buffer.active.cursorY).toBe(2)
})

it('a window that gets narrower has broken the frame into more rows: they are all taken away', async () => {
  const { view, draw, lines } = terminal(40)
  await draw(['kept'], frame(['x'.repeat(39), '> y', 'status'], 3, 1))
  view.resize(15, 10)
  await draw([], frame(['x'.repeat(14), '> y', 'status'], 3, 1), 15)
  expect(lines()).toEqual(['kept', 'x'.repeat(14), '> y', 'status'])
})

it('more lines than the window has rows are printed once each', async () => {
  const { draw, lines } = terminal(20)
  const many = Array.from({ length: 40 }, (_, at) => `line ${at}`)
  await draw(many.slice(0, 25), frame(['> ', 'status'], 2, 0))
  await draw(many.slice(25), frame(['> ', 'status'], 2, 0))
  expect(lines()).toEqual([...many, '> ', 'status'])
})
