/** How a command of a model is started: its shell, its environment, its limits, its sandbox. */
import { homedir } from 'node:os'
import { inSandbox, type Sandbox } from '../sandbox/bubblewrap.ts'

/** What one command may use. Without bubblewrap a program can leave most of them only by being root. */
export interface ShellLimits {
  /** Seconds of a processor, for each process. Default: no limit but the time-out. */
  cpuSeconds?: number
  /** Address space of each process, in MiB. Runtimes such as Node's reserve much more than they use. Default: no limit. */
  memoryMiB?: number
  /** Largest file that is written, in MiB. Default 4096. */
  fileMiB?: number
  /** Processes of the worker's system user, all together. Default: no limit. */
  processes?: number
  /** Open files of each process. Default: the worker's. */
  openFiles?: number
}

/** Letters of `ulimit`, and how many of its units one of ours is. */
const LETTERS: Readonly<Record<keyof ShellLimits, [letter: string, units: number]>> = {
  cpuSeconds: ['t', 1],
  memoryMiB: ['v', 1024],
  fileMiB: ['f', 1024],
  processes: ['u', 1],
  openFiles: ['n', 1],
}
const DEFAULT_LIMITS: ShellLimits = { fileMiB: 4096 }

/** The variables of the worker that a command gets. They hold no secrets. */
const PASSED = /^(?:PATH|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ)$/

/**
 * Both outputs become one, in order. At the end the shell tells its folder to descriptor 3. A limit that is already
 * lower stays.
 */
const AROUND = `exec 2>&1; trap '__rc=$?; pwd -P >&3; exit $__rc' EXIT; __c=$1; shift; eval "$__c"`

export interface CommandLine {
  argv: string[]
  env: Record<string, string>
}

export interface CommandSettings {
  sandbox: Sandbox | undefined
  limits: ShellLimits
  /** Variables of the pack's author. */
  own: Readonly<Record<string, string>>
  /** Variables of the call. */
  given?: Readonly<Record<string, string>> | undefined
}

export function commandLine(command: string, { sandbox, limits, own, given = {} }: CommandSettings): CommandLine {
  const bash = ['bash', '--noprofile', '--norc', '-c', `${ulimits(limits)}${AROUND}`, 'bash', command]
  // A model chooses these variables. `LD_PRELOAD`, `PATH` or `NODE_OPTIONS` would also change the programs around the sandbox.
  const set = Object.entries(given).map(([name, value]) => `${name}=${value}`)
  const shell = set.length > 0 ? ['env', ...set, ...bash] : bash
  return { argv: sandbox ? inSandbox(shell, sandbox) : shell, env: environment(sandbox !== undefined, own) }
}

function ulimits(limits: ShellLimits): string {
  const all = Object.entries({ ...DEFAULT_LIMITS, ...limits }) as [keyof ShellLimits, number | undefined][]
  const set = all.flatMap(([name, value]) => {
    const [letter, units] = LETTERS[name]
    return value === undefined ? [] : [`ulimit -${letter} ${Math.ceil(value * units)} 2>/dev/null; `]
  })
  return ['ulimit -c 0; ', ...set].join('')
}

function environment(sandboxed: boolean, own: Readonly<Record<string, string>>): Record<string, string> {
  const passed = Object.entries(process.env).filter(([name, value]) => PASSED.test(name) && value !== undefined)
  return {
    ...(Object.fromEntries(passed) as Record<string, string>),
    HOME: sandboxed ? '/tmp' : homedir(),
    SHELL: '/bin/bash',
    TERM: 'dumb',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    // Git would wait for a password.
    GIT_TERMINAL_PROMPT: '0',
    ...own,
  }
}
