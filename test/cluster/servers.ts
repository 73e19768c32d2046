/** The servers of `npm run test:cluster`: one cluster for the whole run, two workers for every agent. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import type {} from '../support/servers.ts'
import { startCluster } from './cluster.ts'

/** What test files ask `startTemporalWith` for. */
const SETTINGS: Record<string, Record<string, number>> = {
  'continue-as-new-at-40': { 'limit.historyCount.suggestContinueAsNew': 40 },
}

export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const home = join(tmpdir(), `stello-cluster-${process.pid}`)
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`)
  const cluster = await startCluster({ home, namespaces: SETTINGS, onProgress })
  provide('temporalAddress', cluster.temporalAddress)
  provide('databaseUrl', cluster.databaseUrl)
  provide('workersPerAgent', 2)
  const named = Object.entries(SETTINGS).map(([namespace, settings]) => [
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(),
    namespace,
  ])
  provide('namespacesWith', Object.fromEntries(named) as Record<string, string>)
  return () => cluster.stop()
}
