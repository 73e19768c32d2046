/** The servers of `npm run test:cluster`: one cluster for the whole run, and two workers for every agent. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { build } from '../support/built.ts'
import type {} from '../support/servers.ts'
import { startCluster } from './cluster.ts'
import type { PostgresSpec } from './postgres.ts'
import { addressOf, type TemporalSpec } from './temporal.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The data for tests that kill servers and start them again. */
    clusterTemporal: TemporalSpec
    clusterPostgres: PostgresSpec
  }
}

/** Namespaces for the settings that test files ask `temporalWith` for. */
const SETTINGS: Record<string, Record<string, number>> = {
  'continue-as-new-at-40': { 'limit.historyCount.suggestContinueAsNew': 40 },
}

export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const home = join(tmpdir(), `stello-cluster-${process.pid}`)
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`)
  const { temporal, postgres, databaseUrl, stop } = await startCluster({ home, namespaces: SETTINGS, onProgress })
  const built = join(home, 'built')
  await build(built)
  provide('temporalAddress', addressOf(temporal))
  provide('databaseUrl', databaseUrl)
  provide('builtFolder', built)
  provide('clusterTemporal', temporal)
  provide('clusterPostgres', postgres)
  provide('workersPerAgent', 2)
  provide('namespacesWith', Object.fromEntries(Object.entries(SETTINGS).map(([name, set]) => [written(set), name])))
  return stop
}

function written(settings: Record<string, number>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join()
}
