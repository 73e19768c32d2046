/** Says how far a session may go without asking. It is given or inherited, and only ever narrowed. */

/**
 * From the narrowest to the widest: `plan`: only what changes nothing runs. `dontAsk`: what would be asked is denied.
 * `default`: what writes or executes is asked. `acceptEdits`: what executes is asked. `bypassPermissions`: nothing is.
 */
export type PermissionMode = 'plan' | 'dontAsk' | 'default' | 'acceptEdits' | 'bypassPermissions'

const MODES: readonly PermissionMode[] = ['plan', 'dontAsk', 'default', 'acceptEdits', 'bypassPermissions']
/** Other names. */
const ALIASES: Readonly<Record<string, PermissionMode>> = { autoEdit: 'acceptEdits', yolo: 'bypassPermissions' }

/** What is wrong with a mode; a name nobody knows must not count as some mode or other. */
export function permissionModeProblem(mode: unknown): string | undefined {
  const known = [...MODES, ...Object.keys(ALIASES)]
  return typeof mode === 'string' && known.includes(mode) ? undefined : `must be one of ${known.join(', ')}`
}

/**
 * The mode that permits less: the parent's or the profile's. Unset = permissions are off, so everything is permitted:
 * every mode is narrower.
 */
export function narrowerMode(parent: string | undefined, profile: string | undefined): string | undefined {
  if (parent === undefined || profile === undefined) return profile ?? parent
  return width(profile) < width(parent) ? profile : parent
}

/** The mode of that name. An unknown one, which only a row that somebody else wrote can hold, is the narrowest. */
export function toMode(name: string): PermissionMode {
  return MODES[Math.max(0, width(name))] ?? 'plan'
}

function width(name: string): number {
  const mode = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name
  return MODES.findIndex((one) => one === mode)
}
