/**
 * The secrets that this process knows, and texts without them. Imports nothing, because the workflow sandbox loads this
 * file; inside the sandbox no secret is ever registered.
 */

/**
 * Shortest secret, in UTF-16 units. Shorter ones are parts of words: cutting them would spoil texts and hide nothing.
 */
export const SHORTEST_SECRET = 8
/** How far a text is read beyond its cut, so that half a secret is never left at the end. */
export const LONGEST_SECRET = 4096

const CUT = '(secret)'
/** The `user:password@` of a URL. The pattern is bounded, so that a text full of URLs is read in linear time. */
const URL_USER = /(?<=:\/\/)[^\s/?#"'<>\\]{1,1000}@/g
const URL_PASSWORD = /(?<=[?&](?:password|passwd|pwd|sslpassword)=)[^&\s#"'<>\\]+/gi
const OPENAI_KEY = /(?<![\w-])sk-[\w*.-]{5,}/g

const known = new Set<string>()
let matcher: RegExp | undefined

/** Whether a text can be cut from others: one that is too short or too long cannot. */
export function canBeSecret(text: string): boolean {
  return text.length >= SHORTEST_SECRET && text.length <= LONGEST_SECRET
}

/** From now on no text that leaves this process holds these secrets. A text that cannot be a secret is ignored. */
export function keepSecret(...secrets: readonly (string | undefined)[]): void {
  for (const secret of secrets) {
    if (secret === undefined || !canBeSecret(secret) || known.has(secret)) continue
    for (const form of formsOf(secret)) known.add(form)
    matcher = undefined
  }
}

/** Cuts only what `keepSecret` was given. For content, where everything else must stay. */
export function withoutKnown(text: string): string {
  for (const secret of known) {
    if (!text.includes(secret)) continue
    matcher ??= toMatcher(known)
    return text.replace(matcher, CUT)
  }
  return text
}

/**
 * For errors, logs and pauses: also cuts users and passwords of URLs, and text that looks like a key.
 *
 * @param also cut like known secrets, from this text only
 * @example withoutSecrets('cannot reach https://me:geheim@host/') // 'cannot reach https://(secret)@host/'
 */
export function withoutSecrets(text: string, also: readonly string[] = []): string {
  const more = also.filter(canBeSecret).flatMap(formsOf)
  const bare = more.length > 0 ? text.replace(toMatcher(more), CUT) : text
  return withoutKnown(bare).replace(URL_USER, `${CUT}@`).replace(URL_PASSWORD, CUT).replace(OPENAI_KEY, CUT)
}

/** Cuts known secrets from every text inside a JSON value, keys of objects included. */
export function withoutKnownIn<T>(value: T): T {
  if (typeof value === 'string') return withoutKnown(value) as T
  if (known.size === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutKnownIn) as T
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [withoutKnown(key), withoutKnownIn(each)])) as T
}

/** The forms in which a secret appears: in a text, in a URL and in JSON. */
function formsOf(secret: string): string[] {
  return [
    ...new Set([
      secret,
      encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\uFFFD')),
      JSON.stringify(secret).slice(1, -1),
    ]),
  ]
}

/** Matches whole tokens only, the longest first: one secret may be the beginning of another. */
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
