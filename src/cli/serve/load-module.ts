/**
 * Loads a module of the user's, in TypeScript or JavaScript. Whether its package is an ES module or CommonJS (as `npm
 * init -y` makes it) does not matter: `import`, `require` and `await` at the top level work in both. Stack traces name
 * the file and the line as they were written. The `paths` of a tsconfig.json above the module count.
 */
import { createJiti, type Jiti } from 'jiti'

/** @param path absolute */
export function loadModule(path: string): Promise<unknown> {
  return loaderFor(path).import(path)
}

/** Production may have a tsconfig.json without the package that it extends. Only modules that need its `paths` fail then. */
function loaderFor(path: string): Jiti {
  try {
    return createJiti(path, { fsCache: false, tsconfigPaths: true })
  } catch {
    return createJiti(path, { fsCache: false })
  }
}
