/**
 * The path rule: the only way from a model's text to a path of the host. It holds for links as they are now.
 * `open-folder.ts` makes sure that no link is put there afterwards.
 */
import { relative, resolve, sep } from 'node:path'
import type { SessionContext } from '../../tool/tool.ts'
import { isInside, realPathOf } from '../sandbox/real-path.ts'
import { openRoot, type SandboxManager } from '../sandbox/root.ts'
import { protectedBy } from './protected.ts'
import { answering, Refusal, type Refused } from './refusal.ts'

export type { SandboxManager }

export interface Place {
  /** The path of the folder, without links. */
  root: string
  /** The path of the place, without links. It need not exist. */
  path: string
  /** The name that the model reads: from the root, with slashes. */
  name: string
}

/** A path as a model has written it, and the session that it belongs to. */
export interface GivenPath {
  session: SessionContext
  given: string
}

/** Does the work of a tool at a place, or tells the model why it cannot be done. */
export function atPlace<Result>(
  sandbox: SandboxManager,
  asked: GivenPath,
  work: (place: Place) => Promise<Result>,
): Promise<Result | Refused> {
  return answering(asked.given, async () => work(await locate(sandbox, asked)))
}

/** @throws Refusal when the path leads out of the folder, or to what is protected */
export async function locate(sandbox: SandboxManager, { session, given }: GivenPath): Promise<Place> {
  if (/\p{Cc}/u.test(given)) throw new Refusal('The path holds a control character.')
  const folder = await openRoot(sandbox, session)
  const path = await realPathOf(resolve(folder, given))
  if (path === undefined) throw new Refusal('The path leads over a link to something that does not exist.')
  if (!isInside(folder, path)) {
    throw new Refusal(`${given} is outside of the working directory. Use a path that is relative to it.`)
  }
  const name = relative(folder, path).split(sep).join('/') || '.'
  // No person can be asked yet, so the path is refused.
  if (protectedBy(sandbox.protect)(name))
    throw new Refusal(`${given} is protected: it may hold secrets, or be run by other programs.`)
  return { root: folder, path, name }
}
