/**
 * The secrets this process knows of, and texts without them. Import-free, and never told a secret there: the workflow
 * sandbox loads this file.
 */

/** Shorter ones are parts of words: to cut them would spoil texts, and hide nothing. In UTF-16 units. */
export const SHORTEST_SECRET = 8
/** A text that is cut is read so far beyond the cut, lest half a secret be left. */
export const LONGEST_SECRET = 4096

const CUT = '(secret)'
/** Of a URL, `user:password@`. Bounded, so that a text full of URLs is read in linear time. */
const URL_USER = /(?<=:\/\/)[^\s/?#"'<>\\]{1,1000}@/g
const URL_PASSWORD = /(?<=[?&](?:password|passwd|pwd|sslpassword)=)[^&\s#"'<>\\]+/gi
const OPENAI_KEY = /(?<![\w-])sk-[\w*.-]{5,}/g

const known = new Set<string>()
let matcher: RegExp | undefined

/** Whether a text can be cut from others: what is shorter, or longer, cannot. */
export function canBeSecret(text: string): boolean {
  return text.length >= SHORTEST_SECRET && text.length <= LONGEST_SECRET
}

/** From now on no text that this process tells holds them. What cannot be a secret is passed over. */
export function keepSecret(...secrets: readonly (string | undefined)[]): void {
  for (const secret of secrets) {
    if (secret === undefined || !canBeSecret(secret) || known.has(secret)) continue
    for (const form of formsOf(secret)) known.add(form)
    matcher = undefined
  }
}

/** Without what `keepSecret` was told, and nothing else: for content, of which all the rest counts. */
export function withoutKnown(text: string): string {
  for (const secret of known) {
    if (!text.includes(secret)) continue
    matcher ??= toMatcher(known)
    return text.replace(matcher, CUT)
  }
  return text
}

/**
 * For errors, logs and pauses: users and passwords of URLs are cut too, and what looks like a key.
 *
 * @param also cut like known secrets, from this text only
 * @example withoutSecrets('cannot reach https://me:geheim@host/') // 'cannot reach https://(secret)@host/'
 */
export function withoutSecrets(text: string, also: readonly string[] = []): string {
  const more = also.filter(canBeSecret).flatMap(formsOf)
  const bare = more.length > 0 ? text.replace(toMatcher(more), CUT) : text
  return withoutKnown(bare).replace(URL_USER, `${CUT}@`).replace(URL_PASSWORD, CUT).replace(OPENAI_KEY, CUT)
}

/** The same for every text inside a JSON value; keys of objects too. */
export function withoutKnownIn<T>(value: T): T {
  if (typeof value === 'string') return withoutKnown(value) as T
  if (known.size === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutKnownIn) as T
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [withoutKnown(key), withoutKnownIn(each)])) as T
}

/** As it stands in a text, in a URL and in JSON. */
function formsOf(secret: string): string[] {
  return [
    ...new Set([
      secret,
      encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\uFFFD')),
      JSON.stringify(secret).slice(1, -1),
    ]),
  ]
}

/** Whole tokens only, the longest first: one may be the beginning of another. */
function toMatcher(secrets: Iterable<string>): RegExp {
  const alternatives = [...secrets]
    .toSorted((a, b) => b.length - a.length)
    .map((secret) => {
      const before = /^\w/.test(secret) ? '(?<!\\w)' : ''
      const after = /\w$/.test(secret) ? '(?!\\w)' : ''
      return before + secret.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) + after
    })
  return new RegExp(alternatives.join('|'), 'g')
}
