/**
 * Runs a program in a sandbox of Linux, by bubblewrap: it sees the programs of the system, which it cannot change, its
 * working folder and an own /tmp. It has no network unless allowed, no other processes, and gains no privileges.
 */
import { execFile } from 'node:child_process'

export interface Sandbox {
  /** The folder that may be changed: absolute, without links. */
  workspace: string
  /** The folder that is /tmp inside. */
  tmp: string
  network: boolean
  /** Further folders that may be read. */
  readable: readonly string[]
}

/** Folders that programs need to run. Nothing else of the host is visible: no homes, no other working folders. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/opt', '/nix']
/** Milliseconds. Long, so that on a busy machine a sandbox is not taken for missing. */
const PROBE_MS = 60_000

/**
 * A time-out sends SIGTERM to all processes of a group. Bubblewrap would end at once and take the program with it, which
 * then could not put anything in order. So it ignores the signal, and the program gets it.
 */
const BUBBLEWRAP = ['env', '--ignore-signal=TERM', 'bwrap']
const PROGRAM = ['env', '--default-signal=TERM']

let probed: Promise<string | undefined> | undefined

/** @returns why this machine cannot run programs in a sandbox; undefined when it can */
export function sandboxProblem(): Promise<string | undefined> {
  return (probed ??= probe())
}

/** @returns the words of a command that runs `program` in the sandbox */
export function inSandbox(program: readonly string[], { workspace, tmp, network, readable }: Sandbox): string[] {
  const isolated = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try']
  const seen = [...SYSTEM, ...readable]
  if (network) seen.push('/run/systemd/resolve')
  else isolated.push('--unshare-net')
  const mounts = ['--proc', '/proc', '--dev', '/dev', '--bind', tmp, '/tmp']
  for (const folder of seen) mounts.push('--ro-bind-try', folder, folder)
  // A later mount lies over an earlier one, so the working folder may be in /tmp.
  mounts.push('--bind', workspace, workspace, '--remount-ro', '/')
  return [...BUBBLEWRAP, ...isolated, '--die-with-parent', '--cap-drop', 'ALL', ...mounts, '--', ...PROGRAM, ...program]
}

function probe(): Promise<string | undefined> {
  if (process.platform !== 'linux') return Promise.resolve(`bubblewrap needs Linux, and this is ${process.platform}`)
  const [command = '', ...args] = inSandbox(['true'], { workspace: '/usr', tmp: '/usr', network: false, readable: [] })
  return new Promise((resolve) => {
    execFile(command, args, { timeout: PROBE_MS, env: { PATH: process.env['PATH'] ?? '' } }, (error, _out, said) => {
      resolve(error ? `bubblewrap (bwrap) does not run here: ${said.trim() || error.message}` : undefined)
    })
  })
}
