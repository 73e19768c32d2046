/** Loads an agent module: a JavaScript or TypeScript file whose default export is an agent. */
import { existsSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { isStelloAgent, type StelloAgent } from '../../agent/agent.ts'
import { StelloError, isStelloError, messageOf } from '../../core/errors.ts'
import { loadModule } from './load-module.ts'

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
    return await loadModule(path)
  } catch (error) {
    const hint = isStelloError(error) ? error.hint : missingPackage(error)
    throw new StelloError('INVALID_AGENT', `${path} cannot be loaded: ${messageOf(error)}${thrownAt(error, path)}`, {
      cause: error,
      ...(hint !== undefined && { hint }),
    })
  }
}

/** The line of the user's own code that threw: the first frame in the folder of the module. */
function thrownAt(error: unknown, path: string): string {
  const folder = dirname(path)
  const frames = (error instanceof Error && error.stack ? error.stack.split('\n') : []).map(
    (line) => /\(?(?:file:\/\/)?([^\s()]+:\d+:\d+)\)?$/.exec(line)?.[1] ?? '',
  )
  const own = frames.find((frame) => frame.startsWith(folder + sep) && !frame.includes(`${sep}node_modules${sep}`))
  return own === undefined || messageOf(error).includes(own) ? '' : ` (${relative(folder, own)})`
}

function missingPackage(error: unknown): string | undefined {
  const name = /^Cannot find (?:package|module) '((?:@[^/']+\/)?[^./'][^/']*)/.exec(messageOf(error))?.[1]
  return name && `install it beside the agent module: npm install ${name}`
}

/** A CommonJS module may nest the default export. */
function unwrap(module: unknown): unknown {
  const first = (module as { default?: unknown }).default
  return isStelloAgent(first) ? first : (first as { default?: unknown } | undefined)?.default
}
