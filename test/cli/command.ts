/** The `stello` command in processes of their own. `after-file.ts` ends all of them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { builtModule } from '../support/built.ts'

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Running {
  readonly pid: number
  /** Resolves with all output so far when `text` is in it. Rejects when the process ends before. */
  printed(text: string): Promise<string>
  /** Resolves with the lines of stdout, read as JSON, when there are `n` of them. */
  line(n?: number): Promise<Record<string, unknown>>
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<Ended>
}

export interface CommandOptions {
  env?: Record<string, string>
  cwd?: string
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
const running = new Set<Running>()
const folders: string[] = []

export async function endCommands(): Promise<void> {
  for (const command of running) command.kill('SIGKILL')
  await Promise.all([...running].map((command) => command.ended))
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
}

/** It finds no servers but those in `env`. */
export function start(args: string[], options: CommandOptions = {}): Running {
  return run([builtModule('src/cli/main.ts'), ...args], options)
}

/** @param script in TypeScript */
export function startScript(script: string, args: string[], options: CommandOptions = {}): Running {
  return run(['--import', TSX, script, ...args], options)
}

function run(args: string[], { env = {}, cwd = ROOT }: CommandOptions): Running {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(TEMPORAL|STELLO|OPENAI|ANTHROPIC|RESEARCH)_/.test(name),
  )
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  const listening = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
      for (const listen of listening) listen()
    })
  }
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    running.delete(command)
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, ...output }
  })
  const heard = async <T>(find: () => T | undefined, wanted: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const listen = (): void => {
        const found = find()
        if (found === undefined) return
        listening.delete(listen)
        resolve(found)
      }
      listening.add(listen)
      void ended.then(() => reject(new Error(`the command ended without ${wanted}:\n${output.stdout}${output.stderr}`)))
      listen()
    })
  const command: Running = {
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => void child.kill(signal),
    printed: (text) =>
      heard(() => [output.stdout + output.stderr].find((all) => all.includes(text)), `printing "${text}"`),
    line: (n = 1) => heard(() => output.stdout.split('\n').slice(0, -1).map(parse)[n - 1], `${n} lines on stdout`),
  }
  running.add(command)
  return command
}

export function stello(args: string[], options?: CommandOptions): Promise<Ended> {
  return start(args, options).ended
}

/** Runs a command with `--json` that must succeed. @returns its lines; each of them must be one JSON object */
export async function stelloJson<T = Record<string, unknown>>(args: string[], options?: CommandOptions): Promise<T[]> {
  const { code, stdout, stderr } = await stello([...args, '--json'], options)
  if (code !== 0) throw new Error(`stello ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
  return linesOf(stdout) as T[]
}

export function linesOf(stdout: string): Record<string, unknown>[] {
  return stdout.split('\n').slice(0, -1).map(parse)
}

function parse(line: string): Record<string, unknown> {
  const value: unknown = JSON.parse(line)
  if (typeof value !== 'object' || value === null) throw new Error(`no JSON object: ${line}`)
  return value as Record<string, unknown>
}

/**
 * A folder that is deleted after the file. Modules in it find the packages of the checkout, and the checkout itself as
 * `stello-temporal`.
 */
export async function newFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'stello-cli-')))
  folders.push(folder)
  await chmod(folder, 0o755)
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
