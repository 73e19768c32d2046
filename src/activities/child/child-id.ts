/** Names children: the same call names the same child, in every attempt and after every crash. */
import { fnv1a } from './fnv1a.ts'

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/**
 * The id of the child a step opens: `s-` and 12 characters.
 *
 * @param parentId session id of the parent
 * @param key step key of the call
 * @param inputHash of the step: after a rewind the same key may ask for another child
 * @example childId('s-root', 't3.0.2', 'ab12') // 's-' + 12 characters of a-z, 2-7
 */
export function childId(parentId: string, key: string, inputHash: string): string {
  let hash = fnv1a(JSON.stringify([parentId, key, inputHash]))
  let id = 's-'
  for (let i = 0; i < 12; i++) {
    id += BASE32.charAt(Number(hash & 31n))
    hash >>= 5n
  }
  return id
}
