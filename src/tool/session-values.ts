/**
 * Small values that tools keep with their session: lists of tasks, the folder of a shell, what was read.
 *
 * @example
 * const count = Number((await ctx.values.get('count')) ?? 0) + 1
 * ctx.values.set('count', count)
 */
export interface SessionValues {
  /**
   * The value of that name as the calls before this one have left it, or as this call has set it. It is a copy.
   *
   * @returns undefined when there is none
   * @throws StelloError INVALID_ARGUMENT when the name is not allowed; STORE_UNAVAILABLE
   */
  get(name: string): Promise<unknown>
  /**
   * Sets a value. It is stored together with the result that the tool returns; a call that throws or asks a person stores
   * none. Only one call at a time should set a name: its tool is `ordered`.
   *
   * @param name at most 100 characters
   * @param value plain JSON, at most 256 KiB; it is copied. null removes the value
   * @throws StelloError INVALID_ARGUMENT when the name or the value is not allowed
   * @example ctx.values.set('todos', [{ content: 'read', status: 'pending' }])
   */
  set(name: string, value: unknown): void
  /**
   * Removes a value, as `set(name, null)` does.
   *
   * @throws StelloError INVALID_ARGUMENT when the name is not allowed
   */
  delete(name: string): void
}

/** The value that holds the permission mode which a tool has chosen for its session. It can only narrow the session's own. */
export const MODE_VALUE = 'permission_mode'
/** The tool that sets it: without it, nobody reads the value. */
export const MODE_TOOL = 'EnterPlanMode'
