/** The rule for the tools' root: an absolute path in which no part is a missing value. */
import { isAbsolute } from 'node:path'

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
