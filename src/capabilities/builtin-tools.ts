/** All standard tools in one list, for authors who do not want to choose packs. */
import type { Tool } from '../tool/tool.ts'
import { StelloError } from '../core/errors.ts'
import { subagents } from './agents/subagents.ts'
import { filesystem } from './filesystem/filesystem.ts'
import { memory } from './memory/memory.ts'
import type { MemoryManager } from './memory/memory-manager.ts'
import { people } from './people/people.ts'
import { planning } from './planning/planning.ts'
import type { SandboxManager } from './sandbox/root.ts'
import { shell } from './shell/shell.ts'
import { skills } from './skills/skills.ts'
import { tasks } from './tasks/tasks.ts'
import type { SearchProvider } from './web/search-provider.ts'
import { web } from './web/web.ts'

/** Options of `getBuiltinTools`. */
export interface BuiltinToolsOptions {
  /** Which folder the file and shell tools see. Default: the working directory of the process. */
  sandboxManager?: SandboxManager
  /** The providers that WebSearch asks. Unset: WebSearch says that nobody searches. */
  searchProvider?: SearchProvider | readonly SearchProvider[]
  /** Adds MemoryRead and MemoryWrite. Its store must need no opening; use the pack `memory` for a store that does. */
  memoryManager?: MemoryManager
  /** No effect: Task finds the fork profiles of the agent. Give the registry to the agent, as its profiles. */
  subagentRegistry?: unknown
  /** No effect: tools learn of their session at each call. */
  sessionId?: string
  /** No effect: an agent is configured by its module. */
  configDir?: string
  /** No effect: the tools of MCP servers come with the pack `mcp`. */
  mcpRegistry?: unknown
  /** No effect: ListMcpResources and ReadMcpResource come with the pack `mcp`. */
  includeMcpProtocolTools?: boolean
}

const NOBODY: SearchProvider = {
  name: 'nobody',
  async search() {
    throw new StelloError('TOOL_EXECUTION_ERROR', 'no search provider is configured: read pages by WebFetch')
  },
}

/**
 * The 23 standard tools, A to Z, to be mixed into an agent: the tools of the packs `filesystem`, `shell`, `web`, `subagents`,
 * `tasks`, `planning`, `people` and `skills`.
 *
 * @throws StelloError INVALID_ARGUMENT when the folder is no absolute path
 * @example
 * const tools = await getBuiltinTools({ sandboxManager: { root: '/srv/work' } })
 * export default createStelloAgent({ name: 'coder', llm, capabilities: { tools } })
 */
export async function getBuiltinTools(options: BuiltinToolsOptions = {}): Promise<Tool[]> {
  const { sandboxManager = { root: process.cwd() }, searchProvider = NOBODY, memoryManager } = options
  const packs = [
    filesystem({ sandboxManager }),
    shell({ sandboxManager }),
    web({ searchProvider }),
    subagents({ withShell: true }),
    tasks(),
    planning(),
    people(),
    skills(),
    ...(memoryManager ? [memory({ memoryManager })] : []),
  ]
  return packs.flatMap((pack) => pack.tools).sort((a, b) => (a.name < b.name ? -1 : 1))
}
