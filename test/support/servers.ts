/** What the tests of a run share if they need servers: one Temporal, one PostgreSQL, and what is built once. */
import { existsSync } from 'node:fs'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDevServers, removeDevHome, stopDevServers } from '../../src/dev/dev-servers.ts'
import { postgresUser, startPostgres } from '../../src/dev/postgres-server.ts'
import { build } from './built.ts'
import { memoryFolder } from './memory-folder.ts'
import { asSuperuser } from './superuser.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    temporalAddress: string
    databaseUrl: string
    /** The workflow bundle, and modules that tests run as processes: see `built.ts`. */
    builtFolder: string
    /** How many workers serve an agent of a test. Default 1. */
    workersPerAgent?: number
    /**
     * On a cluster, whose dynamic configuration is set once: the namespace that has a setting, written `name=value`.
     * Otherwise a test file starts a server of its own for it.
     */
    namespacesWith?: Record<string, string>
  }
}

/**
 * Tests need no `fsync`: nobody needs their data after a power cut, and a server that is only killed loses nothing.
 * Test files that run side by side need more connections than one developer does.
 */
export const POSTGRES_SETTINGS: string[] = ['fsync=off', 'max_connections=600']

/**
 * Every project calls this, in the same process, one after another. The first call makes everything, and the later
 * calls find it.
 */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = join(memoryFolder(), `stello-test-${process.pid}`)
  const home = join(folder, '.stello')
  const built = join(folder, 'built')
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`)
  if (!existsSync(folder)) {
    await mkdir(home, { recursive: true })
    await chmod(folder, 0o755)
    // If the tests run as root, PostgreSQL runs as another user, and that user must be able to enter.
    await chmod(home, 0o711)
    const runAs = await postgresUser()
    await Promise.all([startPostgres(runAs, { home, settings: POSTGRES_SETTINGS, onProgress }), build(built)])
  }
  const { temporal, postgres } = await openDevServers({ home, onProgress })
  provide('temporalAddress', temporal.address)
  provide('databaseUrl', await asSuperuser(home, postgres.url))
  provide('builtFolder', built)
  return async () => {
    await stopDevServers(home)
    await removeDevHome(home)
    await rm(folder, { recursive: true, force: true })
  }
}
