/** The screen of a terminal as a person sees it: the final state of the output, after everything was drawn over. */
import { createRequire } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { openTerminal, type Terminal, type TerminalOptions } from './terminal.ts'

/** The part of xterm that is used. Its own types bring the types of browsers into every test file. */
interface View {
  write(text: string, done?: () => void): void
  onData(listen: (text: string) => void): void
  resize(columns: number, rows: number): void
  readonly buffer: {
    readonly active: {
      readonly length: number
      readonly baseY: number
      getLine(at: number): { translateToString(trimmed: boolean): string } | undefined
    }
  }
}
const xterm = createRequire(import.meta.url)('@xterm/headless') as {
  Terminal: new (options: object) => View
}

/** What a program writes before and after a picture that it draws in pieces. */
const [DRAWS, DRAWN] = ['\u001b[?2026h', '\u001b[?2026l']

export interface Screen extends Terminal {
  /** The lines that are seen now, without empty ones at the end. */
  seen(): Promise<string[]>
  /** All lines since the beginning, also those that have left the screen. */
  all(): Promise<string[]>
  /** Waits until the screen shows this. */
  shows(what: string | RegExp): Promise<void>
  /** Waits until it no longer does. */
  hides(what: string | RegExp): Promise<void>
}

export function openScreen(command: string[], options: TerminalOptions): Screen {
  const { columns = 120, rows = 40 } = options
  const terminal = openTerminal(command, { ...options, columns, rows })
  let output = ''
  terminal.onOutput((text) => void (output += text))
  const view = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  terminal.onOutput((text) => view.write(text))
  // The program asks its terminal questions, and gets answers.
  view.onData((text) => terminal.press(text))
  const isDrawing = (): boolean => output.lastIndexOf(DRAWS) > output.lastIndexOf(DRAWN)
  const lines = async (from: number): Promise<string[]> => {
    // If a program was killed while it drew, the picture never ends. So this does not wait for ever.
    for (let n = 0; isDrawing() && n < 100; n++) await delay(5)
    await new Promise<void>((resolve) => view.write('', resolve))
    const { active } = view.buffer
    const all = Array.from(
      { length: active.length - from },
      (_, at) => active.getLine(from + at)?.translateToString(true) ?? '',
    )
    return all.slice(0, all.findLastIndex((line) => line !== '') + 1)
  }
  const seen = (): Promise<string[]> => lines(view.buffer.active.baseY)
  const text = async (): Promise<string> => (await seen()).join('\n')
  return {
    ...terminal,
    seen,
    all: () => lines(0),
    shows: (what) => (typeof what === 'string' ? expect.poll(text).toContain(what) : expect.poll(text).toMatch(what)),
    hides: (what) =>
      typeof what === 'string' ? expect.poll(text).not.toContain(what) : expect.poll(text).not.toMatch(what),
    resize(wide, high) {
      view.resize(wide, high)
      terminal.resize(wide, high)
    },
  }
}
