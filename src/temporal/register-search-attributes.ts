/**
 * The search attributes of sessions in Temporal: which exist, and how they are registered. If Temporal refuses them,
 * sessions run without.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { messageOf } from '../core/errors.ts'
import { SEARCH_ATTRIBUTES } from '../protocol/search-attributes.ts'
import { serviceErrorOf } from './temporal-trouble.ts'

/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2
/** Codes of gRPC. */
const INVALID_ARGUMENT = 3
const PERMISSION_DENIED = 7
const USABLE_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 100

/** @throws the server's error when it refuses the question */
export async function missingSearchAttributes(client: Client): Promise<string[]> {
  const { namespace } = client.options
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace })
  return SEARCH_ATTRIBUTES.filter((name) => !(name in (customAttributes ?? {})))
}

/**
 * Registers missing search attributes and waits until they can be used: the front ends of a cluster learn of new ones
 * some seconds later, and refuse them until then.
 *
 * @returns whether they can be used
 */
export async function registerSearchAttributes(client: Client, log: { warn(message: string): void }): Promise<boolean> {
  try {
    const missing = await missingSearchAttributes(client)
    if (missing.length > 0) {
      const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]))
      const { namespace } = client.options
      await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes })
    }
    return await untilUsable(client)
  } catch (error) {
    log.warn(`search attributes cannot be registered, sessions run without: ${messageOf(error)}`)
    return false
  }
}

/** @returns false when they cannot be used by the end of the wait */
async function untilUsable(client: Client): Promise<boolean> {
  const end = performance.now() + USABLE_WITHIN_MS
  while (!(await areUsable(client))) {
    if (performance.now() >= end) return false
    await delay(LOOK_EVERY_MS)
  }
  return true
}

/** A query that names them all is refused until each is known where workflows are started. */
async function areUsable(client: Client): Promise<boolean> {
  if ((await missingSearchAttributes(client)).length > 0) return false
  try {
    await client.workflow.count(SEARCH_ATTRIBUTES.map((name) => `${name} = 'none'`).join(' and '))
    return true
  } catch (error) {
    const { code } = serviceErrorOf(error) ?? {}
    // Who may not count may perhaps start workflows.
    if (code !== INVALID_ARGUMENT && code !== PERMISSION_DENIED) throw error
    return code === PERMISSION_DENIED
  }
}

async function registered(client: Client): Promise<boolean> {
  return (await missingSearchAttributes(client)).length === 0 && untilUsable(client)
}

/**
 * Whether new sessions may use search attributes: an unregistered one would make the start fail. A client may be older
 * than the first worker, which registers them, so it asks at each session until the answer is yes.
 */
export function searchableBy(client: Client): () => Promise<boolean> {
  let known = false
  return async () => {
    known ||= await registered(client).catch(() => false)
    return known
  }
}
