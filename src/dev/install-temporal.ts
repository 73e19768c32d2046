/**
 * Gets a `temporal` program into the user's cache folder: by download, or built by Go.
 *
 * The program gets its name only when it is complete. The caller makes sure that one process installs at a time.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../core/errors.ts'
import { goInstall } from './go-install.ts'

const run = promisify(execFile)

/** The newest version that `go install` can build: later ones have replace directives, which it refuses. */
export const CLI_VERSION = '1.5.1'

const DOWNLOAD_URL = 'https://github.com/temporalio/cli/releases/download'
/** SHA-256 of the archives of that version, as they were published. */
const ARCHIVES: Readonly<Record<string, string>> = {
  darwin_amd64: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  darwin_arm64: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
  linux_amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  linux_arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
}
const ANSWER_LIMIT_MS = 5000

export interface InstallOptions {
  onProgress: (line: string) => void
  url?: string | undefined
  /** SHA-256 of the archive, in hex. Default: the known one. */
  sha256?: string | undefined
}

/** @throws Error when the service does not answer within 5 seconds, or sends another archive than was published. */
export async function downloadTemporal(target: string, options: InstallOptions): Promise<string> {
  return install(target, async (folder) => {
    const machine = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`
    const sha256 = options.sha256 ?? ARCHIVES[machine]
    if (sha256 === undefined) throw new Error(`no archive is known for ${machine}`)
    const url = `${options.url ?? DOWNLOAD_URL}/v${CLI_VERSION}/temporal_cli_${CLI_VERSION}_${machine}.tar.gz`
    options.onProgress(`downloading Temporal ${CLI_VERSION} from ${url}`)
    const archive = join(folder, 'temporal.tar.gz')
    const got = await fetchTo(archive, url, options.onProgress)
    if (got !== sha256) throw new Error(`${url}: its SHA-256 is ${got}, not ${sha256}`)
    await run('tar', ['-xzf', archive, '-C', folder, 'temporal'])
  })
}

/** @throws Error with Go's last line when the build fails. */
export async function goInstallTemporal(go: string, target: string, options: InstallOptions): Promise<string> {
  const packages = [`github.com/temporalio/cli/cmd/temporal@v${CLI_VERSION}`]
  return install(target, (folder) => goInstall({ go, packages, folder, onProgress: options.onProgress }))
}

/** `produce` puts a program `temporal` into its own folder, which is removed in any case. */
async function install(target: string, produce: (folder: string) => Promise<void>): Promise<string> {
  const draft = `${dirname(target)}.new`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { recursive: true })
  try {
    await produce(draft)
    await mkdir(dirname(target), { recursive: true })
    await rename(join(draft, 'temporal'), target)
    return target
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** @returns the SHA-256 of the download, in hex */
async function fetchTo(file: string, url: string, onProgress: (line: string) => void): Promise<string> {
  const hash = createHash('sha256')
  const controller = new AbortController()
  let silent = setTimeout(() => controller.abort(), ANSWER_LIMIT_MS)
  const output = await open(file, 'w')
  try {
    const response = await fetch(url, { signal: controller.signal })
    if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`)
    let [bytes, toldAt] = [0, Date.now()]
    for await (const chunk of response.body) {
      clearTimeout(silent)
      silent = setTimeout(() => controller.abort(), ANSWER_LIMIT_MS)
      await output.write(chunk)
      hash.update(chunk)
      bytes += chunk.length
      if (Date.now() - toldAt < 2000) continue
      onProgress(`downloading Temporal: ${Math.round(bytes / 1e6)} MB`)
      toldAt = Date.now()
    }
    return hash.digest('hex')
  } catch (error) {
    const reason = controller.signal.aborted ? `silent for ${ANSWER_LIMIT_MS / 1000} s` : reasonOf(error)
    throw new Error(`${url}: ${reason}`, { cause: error })
  } finally {
    clearTimeout(silent)
    await output.close()
  }
}

/** fetch says only "fetch failed". The reason is in the cause. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error)
}
