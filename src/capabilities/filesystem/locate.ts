/**
 * The path rule, the only way from what a model wrote to a path of the host. It holds for links as they are now; that no
 * link comes in between is the matter of `open-folder.ts`.
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
  /** Names that are neither read nor written nor listed, in place of `PROTECTED_NAMES`, which says how they are written. */
  protect?: readonly string[]
}

export interface Place {
  /** Of the folder, without links. */
  root: string
  /** Without links. It need not exist. */
  path: string
  /** What the model reads: from the root, with slashes. */
  name: string
}

/** What every tool of the folder does: the work is done at the place, or the model reads why it cannot be. */
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
  // Nobody can be asked yet, so nobody gets it.
  if (protectedBy(sandbox.protect)(name))
    throw new Refusal(`${given} is protected: it may hold secrets, or be run by other programs.`)
  return { root: folder, path, name }
}

async function openRoot(root: SandboxManager['root'], session: SessionContext): Promise<string> {
  const folder = typeof root === 'string' ? root : await root(session)
  const problem = rootProblem(folder)
  // Not of the model's making: no other call would help.
  if (problem !== undefined) throw new Error(`sandboxManager.root of this agent ${problem}`)
  await mkdir(folder, { recursive: true })
  return realpath(folder)
}

/** What does not exist yet has no links; what exists above it may. */
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
