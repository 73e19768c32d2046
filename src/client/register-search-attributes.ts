/**
 * The search attributes of sessions in Temporal: which exist, and how they are registered. If Temporal refuses them,
 * sessions run without.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { messageOf } from '../core/errors.ts'
import { SEARCH_ATTRIBUTES } from '../protocol/search-attributes.ts'

/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2
const USABLE_WITHIN_MS = 10_000

/** @throws the server's error when it refuses the question */
export async function missingSearchAttributes(client: Client): Promise<string[]> {
  const { namespace } = client.options
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace })
  return SEARCH_ATTRIBUTES.filter((name) => !(name in (customAttributes ?? {})))
}

/** Registers missing search attributes and waits until they can be used. @returns whether they can */
export async function registerSearchAttributes(client: Client, log: { warn(message: string): void }): Promise<boolean> {
  try {
    const missing = await missingSearchAttributes(client)
    if (missing.length === 0) return true
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]))
    await client.connection.operatorService.addSearchAttributes({
      namespace: client.options.namespace,
      searchAttributes,
    })
    const end = performance.now() + USABLE_WITHIN_MS
    for (;;) {
      if ((await missingSearchAttributes(client)).length === 0) return true
      if (performance.now() >= end) return false
      await delay(100)
    }
  } catch (error) {
    log.warn(`search attributes cannot be registered, sessions run without: ${messageOf(error)}`)
    return false
  }
}

/**
 * Whether new sessions may use search attributes: an unregistered one would make the start fail. A client may be older
 * than the first worker, which registers them, so it asks at each session until the answer is yes.
 */
export function searchableBy(client: Client): () => Promise<boolean> {
  let known = false
  return async () => {
    known ||= await missingSearchAttributes(client).then(
      (missing) => missing.length === 0,
      () => false,
    )
    return known
  }
}
