/** The pack of file tools. They run where the worker runs: workers that share an agent must share its folders. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { StelloError } from '../../core/errors.ts'
import type { Tool } from '../../tool/tool.ts'
import { rootProblem } from '../sandbox/root.ts'
import { editTool } from './edit.ts'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import type { SandboxManager } from './locate.ts'
import { protectProblem } from './protected.ts'
import { notebookEditTool } from './notebook-edit.ts'
import { readTool } from './read.ts'
import { writeTool } from './write.ts'

/** Options of `filesystem`. */
export interface FilesystemOptions {
  /** Which folder the tools see, and what they hide in it. */
  sandboxManager: SandboxManager
}

/**
 * The tools Read, Write, Edit, Glob, Grep and NotebookEdit, which see one folder and nothing else.
 *
 * @throws StelloError INVALID_ARGUMENT when the root is no absolute path or contains `undefined`, or when `protect` is
 *   no list
 * @example
 * defineProfile({
 *   id: 'coder', agent: { model: 'anthropic:claude-sonnet-5' },
 *   capabilities: [filesystem({ sandboxManager: { root: ({ sessionId }) => `/srv/sessions/${sessionId}` } })],
 * })
 */
export function filesystem({ sandboxManager }: FilesystemOptions): CapabilityPack & { tools: readonly Tool[] } {
  const { root, protect } = sandboxManager
  const rootWrong = typeof root === 'function' ? undefined : rootProblem(root)
  refuse('root', rootWrong, 'give an absolute path, or a function that returns one')
  refuse('protect', protectProblem(protect), "write them as in a .gitignore: [...PROTECTED_NAMES, '*.sqlite']")
  return {
    tools: [readTool, writeTool, editTool, globTool, grepTool, notebookEditTool].map((make) => make(sandboxManager)),
  }
}

function refuse(field: string, problem: string | undefined, hint: string): void {
  if (problem === undefined) return
  throw new StelloError('INVALID_ARGUMENT', `filesystem: sandboxManager.${field} ${problem}`, { hint })
}
