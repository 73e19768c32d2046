/**
 * One real PostgreSQL for all tests of the store in a run: the server that `STELLO_TEST_DATABASE_URL` names, or else one from
 * the npm package that `STELLO_TEST_POSTGRES` names. What stops or damages a server starts its own.
 */
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { removePostgres } from '../../src/dev/postgres-cluster.ts'
import { postgresUser, startPostgres, stopPostgres } from '../../src/dev/postgres-server.ts'
import { memoryFolder } from '../support/memory-folder.ts'
import { POSTGRES_SETTINGS } from '../support/servers.ts'
import { asSuperuser } from '../support/superuser.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of the project `store` or `postgres-15`. */
    storeServerUrl: string
  }
}

export async function setup({ config, provide }: TestProject): Promise<() => Promise<void>> {
  // Vitest leaves `env` out where a project sets none.
  const [given, packaged] = [process.env['STELLO_TEST_DATABASE_URL'], { ...config.env }['STELLO_TEST_POSTGRES']]
  if (given && !packaged) {
    provide('storeServerUrl', given)
    return async () => undefined
  }
  const home = await realpath(await mkdtemp(join(memoryFolder(), 'stello-store-')))
  await chmod(home, 0o711)
  const runAs = await postgresUser()
  const stop = async (): Promise<void> => {
    await stopPostgres(home, runAs)
    await removePostgres(home, runAs)
    await rm(home, { recursive: true, force: true })
  }
  try {
    const options = { home, settings: POSTGRES_SETTINGS, onProgress: () => undefined }
    const { url } = await startPostgres(runAs, { ...options, ...(packaged && { packaged }) })
    provide('storeServerUrl', await asSuperuser(home, url))
    return stop
  } catch (error) {
    await stop()
    throw error
  }
}
