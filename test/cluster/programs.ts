/**
 * The programs of Temporal's production server, with its schema. Go builds them once into the cache folder of the user.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../../src/dev/cache-folder.ts'
import { goInstall } from '../../src/dev/go-install.ts'
import { withLock } from '../../src/dev/lock.ts'

const run = promisify(execFile)
const MODULE = 'go.temporal.io/server'

export interface ClusterPrograms {
  server: string
  /** Temporal's own tool for its SQL schema. */
  sqlTool: string
  /** Folder with `temporal/versioned` and `visibility/versioned`. */
  schema: string
  /** The configuration of the container image: a template that the server fills in from its environment. */
  config: string
}

/** @param version of the server, like `1.29.1` */
export async function findClusterPrograms(
  version: string,
  onProgress: (line: string) => void,
): Promise<ClusterPrograms> {
  const folder = join(cacheFolder(), `temporal-server-${version}`)
  const build = (): Promise<void> => (existsSync(folder) ? Promise.resolve() : install(version, folder, onProgress))
  if (!existsSync(folder)) await withLock(`${folder}.lock`, build, { onProgress, limitMs: 20 * 60_000 })
  return {
    server: join(folder, 'server'),
    sqlTool: join(folder, 'sql'),
    schema: join(folder, 'schema'),
    config: join(folder, 'docker.yaml'),
  }
}

/** The folder appears only when it is complete. */
async function install(version: string, target: string, onProgress: (line: string) => void): Promise<void> {
  const folder = `${target}.new`
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const packages = ['cmd/server', 'cmd/tools/sql'].map((path) => `${MODULE}/${path}@v${version}`)
  await goInstall({ go: 'go', packages, folder, onProgress })
  const { stdout } = await run('go', ['mod', 'download', '-json', `${MODULE}@v${version}`])
  const { Dir: source } = JSON.parse(stdout) as { Dir: string }
  await cp(join(source, 'schema/postgresql/v12'), join(folder, 'schema'), { recursive: true })
  await cp(join(source, 'config/docker.yaml'), join(folder, 'docker.yaml'))
  await rename(folder, target)
}
