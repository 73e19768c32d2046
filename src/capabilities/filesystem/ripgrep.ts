/** Runs ripgrep, and reads what it prints piece by piece. It gets no environment and no configuration of the host. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { Refusal } from './refusal.ts'

export interface Search {
  /** Options of this search, behind the options that every search has. */
  args: readonly string[]
  /** The folder to search in. */
  cwd: string
  /** A file that is searched instead, by its descriptor. */
  file?: number
  signal: AbortSignal
  /** The separator behind each piece of the output. */
  separator: '\n' | '\0'
  /** Called for each piece, without its separator. The search is ended when it returns false. */
  take(piece: string): boolean
}

const ALWAYS = [
  '--no-config',
  '--color=never',
  '--no-heading',
  '--with-filename',
  '--null',
  '--hidden',
  '--no-require-git',
  '--no-ignore-global',
  '--no-ignore-dot',
  '--no-mmap',
  '--sort=path',
  '--max-columns=500',
  '--max-columns-preview',
]
const TIMEOUT_MS = 30_000
const OUTPUT_LIMIT = 64 * 1024 * 1024
const ERROR_LIMIT = 2000
/** The exit code of ripgrep when a pattern or an option is wrong, or a file cannot be read. */
const FAILED = 2

/** @throws Refusal when the pattern is wrong, or the search takes too long; the signal's reason */
export async function ripgrep({ args, cwd, file, signal, separator, take }: Search): Promise<void> {
  const late = AbortSignal.timeout(TIMEOUT_MS)
  const child = spawn(await ripgrepPath(), [...ALWAYS, ...args, file === undefined ? '.' : '-'], {
    cwd,
    env: {},
    stdio: [file ?? 'ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([signal, late]),
    killSignal: 'SIGKILL',
  }) as ChildProcessByStdio<null, Readable, Readable>
  let problem = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (problem = (problem + text).slice(0, ERROR_LIMIT)))
  const ended = once(child, 'close') as Promise<[code: number | null]>
  // It is waited for below. Until then a failure must not count as one that nobody handles.
  ended.catch(() => undefined)
  try {
    const found = await takeAll(child.stdout, separator, take)
    child.kill('SIGKILL')
    const [code] = await ended
    if (code === FAILED && !found && problem !== '') throw new Refusal(`ripgrep: ${problem.trim()}`)
  } catch (error) {
    signal.throwIfAborted()
    if (late.aborted) throw new Refusal('The search took longer than 30 s: search a directory further down.')
    throw error
  } finally {
    child.kill('SIGKILL')
  }
}

/** @returns whether there was any piece */
async function takeAll(output: AsyncIterable<Buffer>, separator: string, take: Search['take']): Promise<boolean> {
  const decoder = new TextDecoder()
  let [rest, size, found] = ['', 0, false]
  for await (const chunk of output) {
    size += chunk.length
    const pieces = (rest + decoder.decode(chunk, { stream: true })).split(separator)
    rest = pieces.pop() ?? ''
    found ||= pieces.length > 0
    if (!pieces.every(take) || size > OUTPUT_LIMIT) return true
  }
  return found
}

type Load = () => Promise<{ rgPath: string }>

/** The program comes in an optional package for the system. @throws Refusal when it is missing */
export async function ripgrepPath(load: Load = () => import('@vscode/ripgrep')): Promise<string> {
  try {
    return (await load()).rgPath
  } catch {
    throw new Refusal(
      'Grep needs the program ripgrep, which is not installed where the worker runs (npm install @vscode/ripgrep). Use Glob and Read.',
    )
  }
}
