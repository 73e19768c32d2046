/**
 * Writes the worker's calls of its model to a file: a line when a call begins and a line when it ends, each with its
 * idempotency key. If the worker is killed in between, a call has a beginning without an end.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import type { Model } from '../../src/index.ts'

export interface CallCounts {
  /** Asked again because the worker was killed, before or after the answer came. */
  again: number
  /** Asked once more because the provider had refused, e.g. with 429. */
  refused: number
}

/** @param file unset: nothing is written */
export function logged(model: Model, file: string | undefined): Model {
  if (file === undefined) return model
  return {
    name: model.name,
    async complete(messages, options) {
      const note = (what: string): void => appendFileSync(file, `${options?.idempotencyKey} ${what}\n`)
      note('begun')
      try {
        const completion = await model.complete(messages, options)
        note('answered')
        return completion
      } catch (error) {
        note('failed')
        throw error
      }
    },
  }
}

/**
 * Counts only the calls of some sessions, because an earlier run that was interrupted may still go on beside this one.
 */
export function countCalls(file: string, sessionIds: ReadonlySet<string>): CallCounts {
  const counts = { again: 0, refused: 0 }
  const last = new Map<string, string>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [key = '', what = ''] = line.split(' ')
    if (!sessionIds.has(key.split(':')[0] ?? '')) continue
    const before = last.get(key)
    if (what === 'begun' && before !== undefined) counts[before === 'failed' ? 'refused' : 'again']++
    last.set(key, what)
  }
  return counts
}
