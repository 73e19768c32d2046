/** Reads a definition part by part, so that every problem is reported and not only the first. */
import { isStelloError } from '../core/errors.ts'

export interface Problems {
  readonly problems: string[]
  /** @returns what was read; `otherwise` when reading it failed, and then the reason is one of the problems */
  attempt<T>(read: () => T, otherwise: T): T
}

export function collectProblems(): Problems {
  const problems: string[] = []
  return {
    problems,
    attempt(read, otherwise) {
      try {
        return read()
      } catch (error) {
        if (!isStelloError(error)) throw error
        problems.push(error.message)
        return otherwise
      }
    },
  }
}
