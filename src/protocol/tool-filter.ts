/** `allowedTools` and `disallowedTools`, as an agent, a fork profile or a session states them. */

/** Unset `allowedTools` = all; `disallowedTools` wins, and alone may name Stello's two. */
export interface ToolFilter {
  /** Only these tools are offered. Unset = all. */
  allowedTools?: readonly string[]
  /** These tools are not offered. */
  disallowedTools?: readonly string[]
}

/** Whether the filter lets a tool through. @param always names that only `disallowedTools` removes */
export function permits(
  { allowedTools, disallowedTools = [] }: ToolFilter,
  name: string,
  always: readonly string[],
): boolean {
  if (disallowedTools.includes(name)) return false
  return allowedTools === undefined || allowedTools.includes(name) || always.includes(name)
}

/** What is wrong with the form of a filter: text instead of a list would be searched for parts of names. */
export function filterProblem(filter: ToolFilter): string | undefined {
  const fields = ['allowedTools', 'disallowedTools'] as const
  const wrong = fields.find((field) => filter[field] !== undefined && !isNames(filter[field]))
  return wrong && `${wrong}: must be a list of tool names`
}

export function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}
