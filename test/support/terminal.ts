/** A command on a real pseudo-terminal, where Ctrl-C is what a terminal makes of it: a signal to all its processes. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

/** Nothing takes this long. */
const GIVE_UP_MS = 120_000
export const CTRL_C = '\u0003'

export interface Terminal {
  /** Resolves with all output so far when `text` is in it. Rejects with the output if the command ends before, or hangs. */
  printed(text: string): Promise<string>
  press(keys: string): void
  /** Calls back with every piece of output, from the first on. */
  onOutput(listen: (text: string) => void): void
  /** The window gets another size. */
  resize(columns: number, rows: number): void
  /** `code` as a shell sees it: 128 and the number of the signal that ended the command. */
  readonly ended: Promise<{ code: number | null; output: string }>
  /** The terminal's window is closed. */
  close(): void
  /** The process of the command. */
  pid(): number
}

const open = new Set<Terminal>()

export async function closeTerminals(): Promise<void> {
  for (const terminal of open) terminal.close()
  await Promise.all([...open].map(({ ended }) => ended))
}

export interface TerminalOptions {
  cwd: string
  env?: Record<string, string>
  columns?: number
  rows?: number
}

/** @param command a program and its arguments */
export function openTerminal(
  command: string[],
  { cwd, env = {}, columns = 120, rows = 40 }: TerminalOptions,
): Terminal {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(TEMPORAL|STELLO|OPENAI|ANTHROPIC|RESEARCH)_/.test(name),
  )
  const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn(
    'script',
    ['--quiet', '--flush', '--return', '--command', `stty columns ${columns} rows ${rows}; exec ${line}`, '/dev/null'],
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
    onOutput(listen) {
      listen(output)
      child.stdout.on('data', listen)
    },
    pid: () => childOf(child.pid ?? 0),
    resize: (wide, high) =>
      execFileSync('stty', [
        '-F',
        readlinkSync(`/proc/${childOf(child.pid ?? 0)}/fd/0`),
        'columns',
        `${wide}`,
        'rows',
        `${high}`,
      ]),
    // `script` itself ignores SIGHUP. The terminal is closed when `script` ends.
    close: () => void child.kill('SIGKILL'),
    printed: (text) =>
      new Promise((resolve, reject) => {
        const fail = (how: string): void =>
          reject(new Error(`the command ${how} without printing "${text}":\n${output}`))
        const late = setTimeout(() => fail('goes on'), GIVE_UP_MS)
        const listen = (): void => {
          if (!output.includes(text)) return
          listening.delete(listen)
          clearTimeout(late)
          resolve(output)
        }
        listening.add(listen)
        void ended.then(() => {
          clearTimeout(late)
          fail('ended')
        })
        listen()
      }),
  }
  open.add(terminal)
  return terminal
}

/** `script` has one child: its command, on the terminal. */
function childOf(pid: number): number {
  return Number(readdirSync('/proc').find((name) => /^\d+$/.test(name) && parentOf(name) === pid))
}

function parentOf(pid: string): number | undefined {
  try {
    const [, parent] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return Number(parent)
  } catch {
    return undefined
  }
}
