/** A name that people recognise in ids and links. It must never be needed to tell two things apart. */
import { withoutSecrets } from './secrets.ts'

const LIMIT = 24
/** Letters that Unicode does not take apart into a letter and a sign. */
const SPELLED: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th' }

/**
 * The words of a text in a-z, 0-9 and `-`, at most 24 characters, cut between words where that is possible. Letters
 * outside of ASCII lose their signs; what has no Latin letter is left out, and so are secrets.
 *
 * @returns empty if nothing is left
 * @example slug('Tea & Coffee in São Paulo') // 'tea-coffee-in-sao-paulo'
 */
export function slug(text: string): string {
  const plain = withoutSecrets(text)
    .toLowerCase()
    .replace(/[ßæœøłđðþ]/g, (letter) => SPELLED[letter] ?? '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
  const words = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
  if (words.length <= LIMIT) return words
  const end = words.lastIndexOf('-', LIMIT)
  return words.slice(0, end > 0 ? end : LIMIT)
}
