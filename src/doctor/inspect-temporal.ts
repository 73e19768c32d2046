/** Checks whether Temporal answers, knows the namespace, lets us in, and has the search attributes of sessions. */
import { Client, Connection } from '@temporalio/client'
import type { Finding } from './diagnose.ts'
import type { Located } from '../client/connect.ts'
import { missingSearchAttributes } from '../temporal/register-search-attributes.ts'
import { temporalTrouble } from '../temporal/temporal-trouble.ts'

const ANSWER_WITHIN_MS = 5000

/** @returns `connection` when Temporal can be used; the caller closes it */
export async function inspectTemporal({
  temporalAddress: address,
  namespace,
  connection: options,
}: Located): Promise<{ findings: Finding[]; connection?: Connection }> {
  if (!address) {
    const detail = 'no TEMPORAL_ADDRESS, no development server'
    return { findings: [{ name: 'Temporal', ok: false, detail, hint: 'run `stello dev`, or set TEMPORAL_ADDRESS' }] }
  }
  const where = `namespace ${namespace} on ${address}`
  // Lazy and without retries: otherwise the time is over before the cause is known.
  const connection = Connection.lazy({ ...options, address, interceptors: [] })
  try {
    const version = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, async () => {
      const { serverVersion } = await connection.workflowService.getSystemInfo({})
      await connection.workflowService.describeNamespace({ namespace })
      return serverVersion
    })
    const known: Finding = { name: 'Temporal', ok: true, detail: `server ${version || 'unknown'}, ${where}` }
    const client = new Client({ connection, namespace })
    return { findings: [known, await searchAttributes(client)], connection }
  } catch (error) {
    await connection.close()
    const { what, hint } = temporalTrouble(error)
    return { findings: [{ name: 'Temporal', ok: false, detail: `${where}: ${what}`, hint }] }
  }
}

/** Sessions can run without search attributes. */
async function searchAttributes(client: Client): Promise<Finding> {
  const name = 'Search attributes'
  try {
    const missing = await missingSearchAttributes(client)
    if (missing.length === 0) return { name, ok: true, detail: 'all there' }
    return {
      name,
      ok: true,
      warning: true,
      detail: `not there: ${missing.join(', ')}; sessions run without, and cannot be searched for in Temporal`,
      hint: `a worker registers them where it may; else temporal operator search-attribute create --type Keyword ${missing.map((one) => `--name ${one}`).join(' ')}`,
    }
  } catch (error) {
    const { what, hint } = temporalTrouble(error)
    return { name, ok: true, warning: true, detail: what, hint }
  }
}
