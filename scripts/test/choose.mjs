/** Which tests `npm test` runs. Decides only; `main.mjs` runs them. */
import { parseCLI } from 'vitest/node'

/** Projects of `vitest.config.ts` that together take minutes: what a change should pass before anything else is asked of it. */
export const QUICK = ['unit', 'architecture', 'store', 'replay', 'seeds', 'integration']

/** What chooses among all tests, so that the choice of here must not hide them. */
const CHOOSING = ['project', 'testNamePattern', 'changed', 'tagsFilter']

/**
 * @param {string[]} given as for `vitest run`
 * @returns {string[]} the same, with the quick projects unless it says itself which tests to run: by a path, a name, a project
 * @example chosen(['--reporter', 'verbose']) // ['--reporter', 'verbose', '--project', 'unit', …]
 * @example chosen(['test/crash/take-over.test.ts']) // ['test/crash/take-over.test.ts']
 */
export function chosen(given) {
  const { filter, options } = parseCLI(['vitest', 'run', ...given])
  const choosesItself = filter.length > 0 || CHOOSING.some((option) => options[option] !== undefined)
  return choosesItself ? given : [...given, ...QUICK.flatMap((project) => ['--project', project])]
}
