/** The pack of file tools. They run where the worker runs: workers that share an agent must share its folders. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { StelloError } from '../../agent/errors.ts'
import type { Tool } from '../../agent/tool.ts'
import { editTool } from './edit.ts'
import { globTool } from './glob.ts'
import type { SandboxManager } from './locate.ts'
import { readTool } from './read.ts'
import { writeTool } from './write.ts'

export interface FilesystemOptions {
  sandboxManager: SandboxManager
}

/**
 * The tools Read, Write, Edit and Glob, which see one folder and nothing else.
 *
 * @throws StelloError INVALID_ARGUMENT when there is no root
 * @example
 * defineProfile({
 *   id: 'coder', agent: { model: 'anthropic:claude-sonnet-4-5' },
 *   capabilities: [filesystem({ sandboxManager: { root: ({ sessionId }) => `/srv/sessions/${sessionId}` } })],
 * })
 */
export function filesystem({ sandboxManager }: FilesystemOptions): CapabilityPack & { tools: readonly Tool[] } {
  const { root } = sandboxManager
  if (typeof root !== 'function' && (typeof root !== 'string' || root === '')) {
    throw new StelloError('INVALID_ARGUMENT', 'filesystem: sandboxManager.root must be a folder, or a function to one')
  }
  return { tools: [readTool, writeTool, editTool, globTool].map((make) => make(sandboxManager)) }
}
