/** Which folder may be the tools' root: an absolute one, in whose name every part stands for something. */
import { isAbsolute } from 'node:path'

/** What a template makes of a value that is not there: all sessions without it would share one folder. */
const NOTHING = /undefined|\[object |(?:^|[^a-z0-9])(?:null|nan)(?![a-z0-9])/i

/** What is wrong with a root; it follows its name. Does not show it: a model may read this, and not paths of the host. */
export function rootProblem(root: unknown): string | undefined {
  if (typeof root !== 'string' || root === '') return 'is no folder'
  if (!isAbsolute(root)) return 'is not absolute: it would depend on where the worker was started'
  const found = NOTHING.exec(root)?.[0].replace(/^[^a-z[]/i, '')
  return found && `holds "${found}": a value that its path is made of is missing`
}
