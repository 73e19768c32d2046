/** Tools that belong together, ready to be put beside an agent's own. */
import type { AnyTool } from '../tool/any-tool.ts'

/** A tool of the agent's own replaces one of a pack that has its name. */
export interface CapabilityPack {
  /** A list of tools, or a registry of them. */
  tools: { list(): readonly AnyTool[] } | readonly AnyTool[]
}
