/** Loads an agent module: a JavaScript or TypeScript file whose default export is an agent. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { tsImport } from 'tsx/esm/api'
import { isStelloAgent, type StelloAgent } from '../agent/agent.ts'
import { StelloError, isStelloError, messageOf } from '../core/errors.ts'

/** @throws StelloError INVALID_AGENT naming the file and what is wrong with it */
export async function loadAgent(file: string): Promise<StelloAgent> {
  const path = resolve(file)
  if (!existsSync(path)) {
    throw new StelloError('INVALID_AGENT', `there is no file ${path}`, {
      hint: 'name an agent module; `stello init agent.ts` writes one',
    })
  }
  const loaded = await load(path)
  const agent = unwrap(loaded)
  if (isStelloAgent(agent)) return agent
  throw new StelloError('INVALID_AGENT', `the default export of ${path} is not an agent`, {
    hint: 'end the file with `export default createStelloAgent({ … })`',
  })
}

async function load(path: string): Promise<unknown> {
  try {
    return await tsImport(pathToFileURL(path).href, import.meta.url)
  } catch (error) {
    const hint = isStelloError(error) ? error.hint : missingPackage(error)
    throw new StelloError('INVALID_AGENT', `${path} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      ...(hint !== undefined && { hint }),
    })
  }
}

function missingPackage(error: unknown): string | undefined {
  const name = /^Cannot find (?:package|module) '((?:@[^/']+\/)?[^./'][^/']*)/.exec(messageOf(error))?.[1]
  return name && `install it beside the agent module: npm install ${name}`
}

/** A CommonJS module in between nests the default export. */
function unwrap(module: unknown): unknown {
  const first = (module as { default?: unknown }).default
  return isStelloAgent(first) ? first : (first as { default?: unknown } | undefined)?.default
}
