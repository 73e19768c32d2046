/**
 * Tools that a model is shown only when it has discovered them: the schemas of many tools would fill its
 * window. DiscoverTools finds hidden tools; in a session without it, nothing is hidden.
 */
import type { CapabilityPack } from './capability-pack.ts'

/** The tool that finds hidden ones. */
export const DISCOVER_TOOLS = 'DiscoverTools'
/** The value of the session that names the tools which were found. */
export const DISCOVERED = 'discoveredTools'

/** @param names the tools that the session may use, without Stello's own */
export function hiddenTools(packs: readonly CapabilityPack[], names: readonly string[]): ReadonlySet<string> {
  const patterns = packs.flatMap(({ defers = [] }) => defers).map(toPattern)
  if (patterns.length === 0 || !names.includes(DISCOVER_TOOLS)) return new Set()
  return new Set(names.filter((name) => name !== DISCOVER_TOOLS && patterns.some((pattern) => pattern.test(name))))
}

/** The names that DiscoverTools has kept. A value that is no list of names counts as none. */
export function namesDiscovered(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}

/** `*` stands for any characters. */
function toPattern(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`)
}
