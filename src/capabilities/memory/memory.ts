/** The pack of memory: an agent notes something in one session, and finds it in the next. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import type { SessionFacts, Tool } from '../../tool/tool.ts'
import type { MemoryManager } from './memory-manager.ts'
import { memoryReadTool, memoryWriteTool } from './memory-tools.ts'

/** Options of `memory`. */
export interface MemoryOptions {
  /** Reads and writes the memories. */
  memoryManager: MemoryManager
  /**
   * The space whose memories a session sees: 1 to 100 letters, digits, `.`, `_`, `-`, `@` or `+`. Default: one space for each
   * user, and one for all sessions without a user.
   */
  space?: (session: SessionFacts) => string
}

/** No user can have this id. */
const WITHOUT_USER = '(nobody)'

/**
 * The tools MemoryRead and MemoryWrite.
 *
 * @example
 * defineProfile({
 *   id: 'helper', agent: { model: 'anthropic:claude-sonnet-5' },
 *   capabilities: [memory({ memoryManager: new MemoryManager(postgresMemory()) })],
 * })
 */
export function memory({ memoryManager, space = ofUser }: MemoryOptions): CapabilityPack & { tools: readonly Tool[] } {
  return {
    name: 'memory',
    open: async () => memoryManager.store.open?.(),
    close: async () => memoryManager.store.close?.(),
    tools: [memoryReadTool(memoryManager, space), memoryWriteTool(memoryManager, space)],
  }
}

function ofUser({ userId = WITHOUT_USER }: SessionFacts): string {
  return userId
}
