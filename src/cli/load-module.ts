/**
 * Loads a module of the user's, in TypeScript or JavaScript. Whether its package is an ES module or CommonJS (as `npm
 * init -y` makes it) does not matter: `import`, `require` and `await` at the top level work in both. Stack traces name
 * the file and the line as they were written.
 */
import { createJiti } from 'jiti'

/** @param path absolute */
export function loadModule(path: string): Promise<unknown> {
  return createJiti(import.meta.url, { fsCache: false }).import(path)
}
