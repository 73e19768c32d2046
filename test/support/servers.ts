/** The servers of the tests that need them: one Temporal and one PostgreSQL for a whole run, shared by all projects. */
import { chmod, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDevServers, removeDevHome, stopDevServers } from '../../src/dev/dev-servers.ts'
import { asSuperuser } from './superuser.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    temporalAddress: string
    databaseUrl: string
    /** Where modules that tests run as processes are built. */
    builtFolder: string
    /** How many workers serve an agent of a test. Default 1. */
    workersPerAgent?: number
    /**
     * On a cluster, whose dynamic configuration is set once: the namespace that has a setting, written `name=value`. Else a
     * test file starts a server of its own for it.
     */
    namespacesWith?: Record<string, string>
  }
}

/** Every project calls this, in the same process: the first starts the servers, the others join them. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = join(tmpdir(), `stello-test-${process.pid}`)
  const home = join(folder, '.stello')
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o755)
  const { temporal, postgres } = await openDevServers({ home, onProgress: (line) => process.stderr.write(`${line}\n`) })
  provide('temporalAddress', temporal.address)
  provide('databaseUrl', await asSuperuser(home, postgres.url))
  provide('builtFolder', join(folder, 'built'))
  return async () => {
    await stopDevServers(home)
    await removeDevHome(home)
    await rm(folder, { recursive: true, force: true })
  }
}
