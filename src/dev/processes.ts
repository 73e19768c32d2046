/**
 * Processes of this machine that outlive us: how they are recognised, checked and ended.
 *
 * A pid alone never identifies a process: pids are used again. Must never signal a process whose start time is not the
 * recorded one.
 */
import { execFileSync, spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** A process, as something that can be recorded in a file and recognised later. */
export interface ProcessId {
  pid: number
  /** When it started. Opaque: compared only for equality. */
  started: string
}

/** The system user a process runs as. */
export interface RunAs {
  name: string
  uid: number
  gid: number
}

/** Undefined when no such process lives. A zombie counts as dead: inside containers often nobody reaps it. */
export function identify(pid: number): ProcessId | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  try {
    if (process.platform !== 'linux') {
      const [state, ...started] = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)])
        .toString()
        .trim()
        .split(/\s+/)
      return state?.startsWith('Z') ? undefined : { pid, started: started.join(' ') }
    }
    // The second field, the name of the command, may contain spaces and parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? undefined : { pid, started: fields[18] ?? '' }
  } catch {
    return undefined
  }
}

/** A record that names no process, like a file that somebody else wrote may hold, is of none. */
export function isAlive(process: ProcessId): boolean {
  const found = identify(process.pid)
  return found !== undefined && found.started === process.started
}

/** Whether the pid is in use, even by a zombie, like a plain `kill -0`. */
export function isTaken(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The process we are. */
export function self(): ProcessId {
  return identify(process.pid) ?? { pid: process.pid, started: '' }
}

/** The arguments, each between NULs; outside Linux spaces stand for NULs. Empty when the process is gone. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return `\0${readFileSync(`/proc/${pid}/cmdline`, 'utf8')}`
    return ` ${execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)])
      .toString()
      .trim()} `
  } catch {
    return ''
  }
}

/** Whether a process was started with these arguments, in a row; a shell that mentions them does not count. */
export function hasArguments(pid: number, expected: string[]): boolean {
  const separator = process.platform === 'linux' ? '\0' : ' '
  return commandLine(pid).includes(['', ...expected, ''].join(separator))
}

/** The effective user; undefined when the process is gone, or the system does not tell. */
export function ownerOf(pid: number): number | undefined {
  try {
    const text =
      process.platform === 'linux'
        ? /^Uid:\s+\d+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
        : execFileSync('ps', ['-o', 'uid=', '-p', String(pid)]).toString()
    return text === undefined ? undefined : Number(text)
  } catch {
    return undefined
  }
}

/**
 * Every living process of a user that was started with these arguments in a row. The user counts because anybody may
 * name a process like ours.
 */
export function findProcesses(expected: string[], uid: number | undefined = process.getuid?.()): ProcessId[] {
  const pids = process.platform === 'linux' ? readdirSync('/proc') : pgrep(expected[0] ?? '')
  return pids
    .map(Number)
    .filter((pid) => pid > 0 && hasArguments(pid, expected) && (uid === undefined || ownerOf(pid) === uid))
    .map(identify)
    .filter((found) => found !== undefined)
}

/** Every living process whose working directory is a folder. Known only on Linux; elsewhere none. */
export function processesIn(folder: string): ProcessId[] {
  if (process.platform !== 'linux') return []
  const worksThere = (pid: number): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && worksThere(pid))
    .map(identify)
    .filter((found) => found !== undefined)
}

/**
 * Inodes of the open sockets of the process or its group. Undefined when the system does not show them: outside Linux,
 * or as root without the right to trace processes of other users.
 */
export function socketsOf({ pid }: ProcessId): Set<string> | undefined {
  if (process.platform !== 'linux') return undefined
  const filesOf = (member: string): string[] => {
    try {
      const stat = readFileSync(`/proc/${member}/stat`, 'utf8')
      const group = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]
      if (![member, group].includes(String(pid))) return []
      return readdirSync(`/proc/${member}/fd`).map((file) => readlinkSync(`/proc/${member}/fd/${file}`))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') throw error
      return [] // it ended, or closed a file, between two looks
    }
  }
  try {
    return new Set(
      readdirSync('/proc')
        .flatMap(filesOf)
        .flatMap((file) => /^socket:\[(\d+)\]$/.exec(file)?.[1] ?? []),
    )
  } catch {
    return undefined
  }
}

function pgrep(text: string): string[] {
  try {
    return execFileSync('pgrep', ['-f', '--', text]).toString().split('\n')
  } catch {
    return [] // exit code 1: none
  }
}

export interface DaemonOptions {
  /** Its output is appended to this file. */
  log: string
  /** Default: whoever we are. */
  runAs?: RunAs | undefined
  /**
   * Variables beside those that every program needs. The process gets no other variable of ours, above all no keys of
   * models.
   */
  env?: NodeJS.ProcessEnv
}

export interface Daemon {
  id: ProcessId
  /** Becomes a sentence such as `exited with code 1` once the process is gone; undefined while it lives. */
  ended: () => string | undefined
  /** The end of its own output, without that of its predecessors in the same file. */
  lastWords: () => Promise<string>
}

/** The variables that every program needs. `HOME` only for ourselves: another user cannot use it. */
export function plainEnvironment(runAs: RunAs | undefined): NodeJS.ProcessEnv {
  const names = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', ...(runAs ? [] : ['HOME'])]
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}

/**
 * Starts a process that lives on when we are killed: own session, own process group, output to a file. Only its user
 * can read the files that it creates.
 */
export async function startDaemon(command: string, args: string[], options: DaemonOptions): Promise<Daemon> {
  const log = openSync(options.log, 'a', 0o600)
  const begin = fstatSync(log).size
  let ended: string | undefined
  try {
    await access(command, constants.X_OK)
    // Our own umask would affect everything that this process does meanwhile.
    const child = spawn('/bin/sh', ['-c', 'umask 077; exec "$@"', 'sh', command, ...args], {
      // Not our working directory: the other user may be unable to enter it, and the process would keep it from being
      // removed.
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...plainEnvironment(options.runAs), ...options.env },
      ...(options.runAs && { uid: options.runAs.uid, gid: options.runAs.gid }),
    })
    child.once('exit', (code, signal) => (ended = signal ? `was ended by ${signal}` : `exited with code ${code}`))
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    child.unref()
    const id = identify(child.pid ?? 0) ?? { pid: child.pid ?? 0, started: '' }
    return { id, ended: () => ended, lastWords: () => tailOf(options.log, begin) }
  } finally {
    closeSync(log)
  }
}

/**
 * Ends a process: sends `signal`, and after `graceMs` kills its whole group. Resolves when it is gone. Does nothing
 * when it is gone already.
 */
export async function endProcess(target: ProcessId, signal: NodeJS.Signals, graceMs = 10_000): Promise<void> {
  const kill = (pid: number, sent: NodeJS.Signals): void => {
    try {
      if (isAlive(target)) process.kill(pid, sent)
    } catch {
      // gone between the look and the signal
    }
  }
  kill(target.pid, signal)
  if (await until(() => !isAlive(target), graceMs)) return
  kill(-target.pid, 'SIGKILL')
  await until(() => !isAlive(target), 10_000)
}

/** Asks every 25 ms until the answer is truthy, and returns it. After `limitMs` it returns the last answer. */
export async function until<T>(ask: () => T | Promise<T>, limitMs: number): Promise<T> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer || Date.now() >= deadline) return answer
    await delay(25)
  }
}

/**
 * The end of a log, for an error message; empty when there is none. For a panic of Go it is the reason, without the
 * stacks.
 *
 * @param begin where to begin, in bytes
 */
export async function tailOf(log: string, begin = 0): Promise<string> {
  const bytes = await readFile(log).catch(() => Buffer.alloc(0))
  const [text = ''] = bytes
    .subarray(begin)
    .toString()
    .split(/^goroutine \d+ /m)
  return text.trimEnd().split('\n').slice(-10).join('\n')
}
