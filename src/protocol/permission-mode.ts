/** How far a session may go without asking. Given, inherited, and only ever narrowed; nothing asks for it yet. */

/** From the narrowest to the widest. */
const MODES = ['plan', 'dontAsk', 'default', 'acceptEdits', 'bypassPermissions']
/** Other names. */
const ALIASES: Readonly<Record<string, string>> = { autoEdit: 'acceptEdits', yolo: 'bypassPermissions' }

/** What is wrong with a mode; a name nobody knows must not count as some mode or other. */
export function permissionModeProblem(mode: unknown): string | undefined {
  const known = [...MODES, ...Object.keys(ALIASES)]
  return typeof mode === 'string' && known.includes(mode) ? undefined : `must be one of ${known.join(', ')}`
}

/** The mode that permits less: the parent's or the profile's. Unset = `default`. */
export function narrowerMode(parent: string | undefined, profile: string | undefined): string | undefined {
  return profile !== undefined && width(profile) < width(parent) ? profile : parent
}

/** An unknown one, which only a row that somebody else wrote can hold, is narrower than all. */
function width(mode = 'default'): number {
  return MODES.indexOf(Object.hasOwn(ALIASES, mode) ? (ALIASES[mode] ?? mode) : mode)
}
