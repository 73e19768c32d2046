/** Which provider's rules apply to a server that speaks chat completions. */

const HOSTS: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)googleapis\.com$/, 'google'],
  [/(^|\.)deepseek\.com$/, 'deepseek'],
  [/(^|\.)mistral\.ai$/, 'mistral'],
]

/**
 * A provider that is not `openai` keeps its name, also with another base URL. For `openai`, the host decides: it is the
 * name of the provider that owns the host, or else the host itself. What a provider wants back is kept under this name.
 *
 * @example chatDialect('openai', 'api.deepseek.com') // 'deepseek'
 */
export function chatDialect(provider: string, host: string): string {
  if (provider !== 'openai') return provider
  const known = HOSTS.find(([pattern]) => pattern.test(host.replace(/:\d+$/, '')))
  return known?.[1] ?? host
}
