/**
 * What `stello doctor` finds out about the servers and their sessions, one finding per check. Must never change
 * anything.
 */
import { Client } from '@temporalio/client'
import { isStelloError, messageOf } from '../core/errors.ts'
import type { Finding } from './diagnose.ts'
import { openDatabase } from '../store/database/database.ts'
import { locateServers, type ConnectOptions } from '../client/connect.ts'
import { inspectHosts } from './inspect-hosts.ts'
import { inspectSessions } from './inspect-sessions.ts'
import { inspectStore } from './inspect-store.ts'
import { inspectTemporal } from './inspect-temporal.ts'

/**
 * @param options where the servers are; default as for `connectStello`
 * @example
 * for (const { ok, name, detail } of await inspectServers()) console.log(ok ? '✓' : '✗', name, detail)
 */
export async function inspectServers(options: ConnectOptions = {}): Promise<Finding[]> {
  const servers = await locateServers(options).catch(misconfigured)
  if ('ok' in servers) return [servers]
  const { databaseUrl, namespace } = servers
  const [temporal, store] = await Promise.all([inspectTemporal(servers), inspectStore(databaseUrl)])
  const findings = [...temporal.findings, ...store.findings]
  try {
    if (!temporal.connection || !store.usable || databaseUrl === undefined) return findings
    const client = new Client({ connection: temporal.connection, namespace })
    const db = openDatabase(databaseUrl)
    const inspected = Promise.all([inspectHosts(db, namespace), inspectSessions(client, db)])
    return [...findings, ...(await inspected.finally(() => db.close())).flat()]
  } finally {
    await temporal.connection?.close()
  }
}

function misconfigured(error: unknown): Finding {
  const hint = isStelloError(error) ? error.hint : "correct Temporal's variables (TEMPORAL_…), or the files they name"
  return { name: 'Configuration', ok: false, detail: messageOf(error), ...(hint !== undefined && { hint }) }
}
