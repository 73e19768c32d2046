/**
 * Finds Temporal on this machine, in a fixed order, and always says which way was taken.
 *
 * When a way fails, the next one is tried. Only when all have failed there is an error, which lists them all.
 */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, StelloError } from '../core/errors.ts'
import { cacheFolder } from './cache-folder.ts'
import { CLI_VERSION, downloadTemporal, goInstallTemporal } from './install-temporal.ts'
import { withLock } from './lock.ts'
import { isForeign } from './trust.ts'

const run = promisify(execFile)

/** A `temporal` program we can start a server with. */
export interface TemporalBinary {
  path: string
  version: string
  source: string
}

export interface FindTemporalOptions {
  /** Whether it may be downloaded or built. Default true. */
  install?: boolean
  /** URL of the folder with archives of the program. Default: Temporal's own download service. */
  downloadUrl?: string
  /** SHA-256 of the archive there, in hex; default that of the published one. */
  downloadSha256?: string
  onProgress?: (line: string) => void
}

type Way = [source: string, find: () => Promise<string>]

/** Longest wait for a build, which takes minutes on a small machine. */
const INSTALL_LIMIT_MS = 20 * 60_000

/**
 * Finds a `temporal` program: on the PATH, in the cache of an earlier run, by download, by building it with Go.
 * (`TEMPORAL_ADDRESS` comes before all of these, and needs no program.)
 *
 * @throws StelloError `SERVER_UNREACHABLE`: each way that was tried, why it failed, and what to install.
 * @example
 * const { path, source } = await findTemporal({ onProgress: console.error })
 */
export async function findTemporal(options: FindTemporalOptions = {}): Promise<TemporalBinary> {
  const { install = true, downloadUrl: url, downloadSha256: sha256, onProgress = () => undefined } = options
  const tried = ['TEMPORAL_ADDRESS: not set']
  const firstOf = async (ways: Way[]): Promise<TemporalBinary | undefined> => {
    for (const [source, find] of ways) {
      try {
        const path = await find()
        return { path, version: await versionOf(path), source }
      } catch (error) {
        const failed = `${source}: ${messageOf(error)}`
        tried.push(failed)
        onProgress(`Temporal, ${failed}`)
      }
    }
    return undefined
  }
  const target = join(cacheFolder(), `temporal-${CLI_VERSION}`, 'temporal')
  const cached: Way = [
    'cached copy',
    async () => ((await isExecutable(target)) ? ownProgram(target) : refuse(`no ${target}`)),
  ]
  const onThePath: Way = ['temporal on the PATH', async () => (await onPath('temporal')) ?? refuse('there is none')]
  const installs: Way[] = [
    ['download', () => downloadTemporal(target, { onProgress, url, sha256 })],
    [
      'go install',
      async () => goInstallTemporal((await onPath('go')) ?? refuse('no go on the PATH'), target, { onProgress }),
    ],
  ]
  let found = await firstOf([onThePath, cached])
  if (!found && install) {
    // A process that has waited for another installer finds the copy of that one.
    const installFirst = async (): Promise<TemporalBinary | undefined> =>
      firstOf((await isExecutable(target)) ? [cached, ...installs] : installs)
    found = await withLock(`${dirname(target)}.lock`, installFirst, { onProgress, limitMs: INSTALL_LIMIT_MS })
  }
  if (found) return found
  throw new StelloError(
    'SERVER_UNREACHABLE',
    `No Temporal server and no way to start one. Tried:\n- ${tried.join('\n- ')}`,
    {
      hint: 'install the Temporal CLI (https://docs.temporal.io/cli) or Go, or set TEMPORAL_ADDRESS',
    },
  )
}

/**
 * Checks `temporal --version`. A build by `go install` calls itself 0.0.0-DEV: for it, the version of the server inside
 * counts.
 *
 * @throws Error when the program is older than 1.1, or is not Temporal's.
 */
async function versionOf(path: string): Promise<string> {
  const { stdout } = await run(path, ['--version'], { timeout: 20_000 })
  const [, cli, server] = /^temporal version v?(\d+\.\d+\.\d+\S*)(?: \(Server (\d+\.\d+\.\d+))?/m.exec(stdout) ?? []
  if (!cli) throw new Error(`${path} --version says "${stdout.trim()}", which is no version of Temporal`)
  const recent = cli === '0.0.0-DEV' ? isAtLeast(server ?? '0.0', [1, 25]) : isAtLeast(cli, [1, 1])
  if (recent) return server ? `${cli} (server ${server})` : cli
  throw new Error(`${path} is version ${cli}; 1.1 or later is needed`)
}

function isAtLeast(version: string, [major, minor]: [number, number]): boolean {
  const [ourMajor = 0, ourMinor = 0] = version.split('.').map(Number)
  return ourMajor > major || (ourMajor === major && ourMinor >= minor)
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    if (await isExecutable(join(folder, name))) return join(folder, name)
  }
  return undefined
}

/** Others may be able to write into the cache. */
async function ownProgram(path: string): Promise<string> {
  return isForeign(await stat(path)) ? refuse(`${path} may have been written by another user`) : path
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

function refuse(reason: string): never {
  throw new Error(reason)
}
