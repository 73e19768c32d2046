/** A command on a real pseudo-terminal, so that Ctrl-C is what a terminal makes of it: a signal to all its processes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll } from 'vitest'

export const CTRL_C = '\u0003'

export interface Terminal {
  /** Resolves with all output so far once `text` stands in it; rejects when the command ends before. */
  printed(text: string): Promise<string>
  press(keys: string): void
  /** `code` as a shell sees it: 128 and the number of the signal that ended the command. */
  readonly ended: Promise<{ code: number | null; output: string }>
  /** The terminal's window is closed. */
  close(): void
}

const open = new Set<Terminal>()

afterAll(async () => {
  for (const terminal of open) terminal.close()
  await Promise.all([...open].map(({ ended }) => ended))
})

/** @param command a program and its arguments */
export function openTerminal(
  command: string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Terminal {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(TEMPORAL|STELLO|OPENAI|ANTHROPIC|RESEARCH)_/.test(name),
  )
  const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn(
    'script',
    ['--quiet', '--flush', '--return', '--command', `stty columns 120 rows 40; exec ${line}`, '/dev/null'],
    {
      cwd,
      env: { ...Object.fromEntries(inherited), TERM: 'xterm', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  let output = ''
  const listening = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    for (const listen of listening) listen()
  })
  const ended = once(child, 'close').then(([code]) => {
    open.delete(terminal)
    return { code: code as number | null, output }
  })
  const terminal: Terminal = {
    ended,
    press: (keys) => void child.stdin.write(keys),
    close: () => void child.kill('SIGHUP'),
    printed: (text) =>
      new Promise((resolve, reject) => {
        const listen = (): void => {
          if (!output.includes(text)) return
          listening.delete(listen)
          resolve(output)
        }
        listening.add(listen)
        void ended.then(() => reject(new Error(`the command ended without printing "${text}":\n${output}`)))
        listen()
      }),
  }
  open.add(terminal)
  return terminal
}
