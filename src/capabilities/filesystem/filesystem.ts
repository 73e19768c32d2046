/** The pack of file tools. They run where the worker runs: workers that share an agent must share its folders. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { StelloError } from '../../agent/errors.ts'
import type { Tool } from '../../agent/tool.ts'
import { editTool } from './edit.ts'
import { globTool } from './glob.ts'
import type { SandboxManager } from './locate.ts'
import { readTool } from './read.ts'
import { rootProblem } from './root.ts'
import { writeTool } from './write.ts'

export interface FilesystemOptions {
  sandboxManager: SandboxManager
}

/**
 * The tools Read, Write, Edit and Glob, which see one folder and nothing else.
 *
 * @throws StelloError INVALID_ARGUMENT when the root is no absolute path, or holds `undefined`
 * @example
 * defineProfile({
 *   id: 'coder', agent: { model: 'anthropic:claude-sonnet-4-5' },
 *   capabilities: [filesystem({ sandboxManager: { root: ({ sessionId }) => `/srv/sessions/${sessionId}` } })],
 * })
 */
export function filesystem({ sandboxManager }: FilesystemOptions): CapabilityPack & { tools: readonly Tool[] } {
  const { root } = sandboxManager
  const problem = typeof root === 'function' ? undefined : rootProblem(root)
  if (problem !== undefined) {
    throw new StelloError('INVALID_ARGUMENT', `filesystem: sandboxManager.root ${problem}`, {
      hint: 'give an absolute path, or a function that returns one',
    })
  }
  return { tools: [readTool, writeTool, editTool, globTool].map((make) => make(sandboxManager)) }
}
