/** Loads packages that only some agents need. They are optional peer dependencies: users of other models do without. */
import { StelloError } from '../core/errors.ts'

/**
 * @param load imports the package, with its name as a literal
 * @throws StelloError MODEL_REFUSED_REQUEST when it is not installed, with the command that installs it
 * @example const { Anthropic } = await loadPackage('model claude-x', '@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'))
 */
export async function loadPackage<T>(what: string, name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, name)) throw error
    throw new StelloError('MODEL_REFUSED_REQUEST', `${what} needs the package ${name}, which is not installed`, {
      hint: `run \`npm install ${name}\` where the worker runs, restart it, then resume the session`,
    })
  }
}

/** A package that is installed, but lacks one of its own dependencies, is another fault. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === 'ERR_MODULE_NOT_FOUND' && String(message).includes(`'${name}'`)
}
