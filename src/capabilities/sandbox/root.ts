/** The folder that tools work in: an absolute path in which no part is a missing value. */
import { mkdir, realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { SessionContext } from '../../tool/tool.ts'

/** Where files are. */
export interface SandboxManager {
  /**
   * The folder the tools see: absolute, made when it is missing. A function gives each session, or each user, one of
   * its own.
   */
  root: string | ((session: SessionContext) => string | Promise<string>)
  /** Names that the file tools neither read nor write nor list. They replace `PROTECTED_NAMES` and have the same form. */
  protect?: readonly string[]
}

/**
 * A template writes these words for a missing value. With them, all sessions without the value would share one folder.
 */
const NOTHING = /undefined|\[object |(?:^|[^a-z0-9])(?:null|nan)(?![a-z0-9])/i

/**
 * The problem with a root, as text that follows its name. It does not show the path: a model may read this text, but no
 * paths of the host.
 */
export function rootProblem(root: unknown): string | undefined {
  if (typeof root !== 'string' || root === '') return 'is no folder'
  if (!isAbsolute(root)) return 'is not absolute: it would depend on where the worker was started'
  const found = NOTHING.exec(root)?.[0].replace(/^[^a-z[]/i, '')
  return found && `holds "${found}": a value that its path is made of is missing`
}

/** The folder of a session, without links. It is made when it is missing. */
export async function openRoot(sandbox: SandboxManager, session: SessionContext): Promise<string> {
  const folder = await rootOf(sandbox, session)
  await mkdir(folder, { recursive: true })
  return realpath(folder)
}

/** @returns undefined when there is no such folder, which is not made */
export async function findRoot(sandbox: SandboxManager, session: SessionContext): Promise<string | undefined> {
  return realpath(await rootOf(sandbox, session)).catch(() => undefined)
}

async function rootOf({ root }: SandboxManager, session: SessionContext): Promise<string> {
  const folder = typeof root === 'string' ? root : await root(session)
  const problem = rootProblem(folder)
  // This is no fault of the model: no other call would help.
  if (problem !== undefined) throw new Error(`sandboxManager.root of this agent ${problem}`)
  return folder
}
