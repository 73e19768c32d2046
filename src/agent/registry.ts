/** Where an author collects tools before the agent is created. */
import { StelloError } from './errors.ts'
import { toTool } from './to-tool.ts'
import type { AnyTool, ToolLike } from './to-tool.ts'
import type { Tool } from './tool.ts'

/**
 * A registry of tools, in order of registration.
 *
 * @example
 * const tools = new ToolRegistryImpl().register({
 *   name: 'save_note', description: 'Saves a note', parameters: { type: 'object' }, execute: (args) => save(args),
 * })
 */
export class ToolRegistryImpl {
  readonly #tools = new Map<string, Tool>()

  /** @throws StelloError INVALID_TOOL when the tool is not one, or its name is taken */
  register(tool: ToolLike): this
  register(tool: AnyTool): this
  register(given: AnyTool): this {
    const tool = toTool(given)
    if (this.#tools.has(tool.name)) {
      throw new StelloError('INVALID_TOOL', `tool "${tool.name}" is registered twice; rename or remove one of them`)
    }
    this.#tools.set(tool.name, tool)
    return this
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  list(): Tool[] {
    return [...this.#tools.values()]
  }
}
