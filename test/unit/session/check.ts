/** How the simulator notices what must not be. */

export function check(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem)
}

/** A rule that changes the state that it was given throws. States share most of their parts, so this is cheap. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(freeze)
  return Object.freeze(value)
}
