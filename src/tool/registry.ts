/** Where an author collects tools before the agent is created. */
import { StelloError } from '../core/errors.ts'
import { Late } from '../core/late.ts'
import { toTool } from './to-tool.ts'
import type { AnyTool, ToolLike } from './any-tool.ts'
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
  readonly #late = new Late('INVALID_TOOL')

  /** @throws StelloError INVALID_TOOL when the tool is not one, its name is taken, or a worker that uses it has started */
  register(tool: ToolLike): this
  register(tool: AnyTool): this
  register(given: AnyTool): this {
    this.#late.refuse('a tool')
    const tool = toTool(given)
    if (this.#tools.has(tool.name)) {
      throw new StelloError('INVALID_TOOL', `tool "${tool.name}" is registered twice; rename or remove one of them`)
    }
    this.#tools.set(tool.name, tool)
    return this
  }

  /** From now on nothing is registered: all workers of an agent must have the same. @param by who uses it, for the error */
  seal(by: string): void {
    this.#late.seal(by)
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  list(): Tool[] {
    return [...this.#tools.values()]
  }
}
