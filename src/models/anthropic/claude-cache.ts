/**
 * Where Anthropic caches a prompt: behind the tools, behind the system prompt, and behind the last two turns of the
 * user. The second-to-last turn of the user was the last one in the previous call. So Anthropic finds what that call
 * left in the cache, however much one turn adds.
 */
import type Anthropic from '@anthropic-ai/sdk'

/** Tools and system prompt take two of the four points that Anthropic allows. */
const TURNS = 2

/** @param body the request; it is changed */
export function setCachePoints(body: Anthropic.MessageCreateParamsNonStreaming, ttl: '5m' | '1h'): void {
  const cache_control: Anthropic.CacheControlEphemeral = { type: 'ephemeral', ...(ttl === '1h' && { ttl }) }
  const tool = body.tools?.at(-1)
  if (tool) Object.assign(tool, { cache_control })
  const rule = Array.isArray(body.system) ? body.system.at(-1) : undefined
  if (rule) Object.assign(rule, { cache_control })
  const users = body.messages.filter(({ role }) => role === 'user')
  for (const { content } of users.slice(-TURNS)) {
    const last = Array.isArray(content) ? content.at(-1) : undefined
    if (last) Object.assign(last, { cache_control })
  }
}
