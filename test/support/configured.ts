/**
 * Temporal with other settings for one test file. The file gets a server of its own. A cluster is configured once, so
 * there the file gets a namespace of its own.
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
