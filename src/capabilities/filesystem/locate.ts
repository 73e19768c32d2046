/**
 * The path rule: the only way from a model's text to a path of the host. It holds for links as they are now.
 * `open-folder.ts` makes sure that no link is put there afterwards.
 */
import { lstat, mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { SessionContext } from '../../tool/tool.ts'
import { protectedBy } from './protected.ts'
import { answering, codeOf, Refusal, type Refused } from './refusal.ts'
import { rootProblem } from './root.ts'

/** Where files are. */
export interface SandboxManager {
  /**
   * The folder the tools see: absolute, made when it is missing. A function gives each session, or each user, one of
   * its own.
   */
  root: string | ((session: SessionContext) => string | Promise<string>)
  /** Names that are neither read nor written nor listed. They replace `PROTECTED_NAMES` and have the same form. */
  protect?: readonly string[]
}

export interface Place {
  /** The path of the folder, without links. */
  root: string
  /** The path of the place, without links. It need not exist. */
  path: string
  /** The name that the model reads: from the root, with slashes. */
  name: string
}

/** Does the work of a tool at a place, or tells the model why it cannot be done. */
export function atPlace<Result>(
  sandbox: SandboxManager,
  session: SessionContext,
  given: string,
  work: (place: Place) => Promise<Result>,
): Promise<Result | Refused> {
  return answering(given, async () => work(await locate(sandbox, session, given)))
}

/** @throws Refusal when the path leads out of the folder, or to what is protected */
export async function locate(sandbox: SandboxManager, session: SessionContext, given: string): Promise<Place> {
  if (/\p{Cc}/u.test(given)) throw new Refusal('The path holds a control character.')
  const folder = await openRoot(sandbox.root, session)
  const path = await withoutLinks(resolve(folder, given))
  if (!isInside(folder, path)) {
    throw new Refusal(`${given} is outside of the working directory. Use a path that is relative to it.`)
  }
  const name = relative(folder, path).split(sep).join('/') || '.'
  // No person can be asked yet, so the path is refused.
  if (protectedBy(sandbox.protect)(name))
    throw new Refusal(`${given} is protected: it may hold secrets, or be run by other programs.`)
  return { root: folder, path, name }
}

async function openRoot(root: SandboxManager['root'], session: SessionContext): Promise<string> {
  const folder = typeof root === 'string' ? root : await root(session)
  const problem = rootProblem(folder)
  // This is no fault of the model: no other call would help.
  if (problem !== undefined) throw new Error(`sandboxManager.root of this agent ${problem}`)
  await mkdir(folder, { recursive: true })
  return realpath(folder)
}

/** The missing part of a path has no links. The existing part above it may have some. */
async function withoutLinks(target: string): Promise<string> {
  const missing: string[] = []
  for (let at = target; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing.toReversed())
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
    if (await isThere(at)) throw new Refusal('The path leads over a link to something that does not exist.')
    missing.push(basename(at))
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
