/** Which provider's rules hold for a server that speaks chat completions. */

const HOSTS: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)googleapis\.com$/, 'google'],
  [/(^|\.)deepseek\.com$/, 'deepseek'],
  [/(^|\.)mistral\.ai$/, 'mistral'],
]

/**
 * The provider's name, also behind another base URL; for a server that was named by its URL alone the provider whose
 * host that is, else the host. What a provider wants back is kept under this name.
 *
 * @example chatDialect('openai', 'api.deepseek.com') // 'deepseek'
 */
export function chatDialect(provider: string, host: string): string {
  if (provider !== 'openai') return provider
  const known = HOSTS.find(([pattern]) => pattern.test(host.replace(/:\d+$/, '')))
  return known?.[1] ?? host
}
