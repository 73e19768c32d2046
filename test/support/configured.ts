/**
 * Temporal with its own settings for one test file: a server of its own. On a cluster, which is configured once, a
 * namespace of its own.
 */
import { inject } from 'vitest'
import type { OpenedServers } from './session-fixture.ts'
import { startTemporalWith } from './temporal.ts'

/** @param dynamicConfig as `name=value` */
export async function temporalWith(...dynamicConfig: string[]): Promise<OpenedServers> {
  const namespaces = inject('namespacesWith')
  if (!namespaces) return startTemporalWith(dynamicConfig)
  const namespace = namespaces[dynamicConfig.join()]
  if (!namespace) throw new Error(`no namespace has ${dynamicConfig.join()}: see SETTINGS in test/cluster/servers.ts`)
  return { temporalAddress: inject('temporalAddress'), namespace, close: () => Promise.resolve() }
}
