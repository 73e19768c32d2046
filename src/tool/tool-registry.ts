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

  /**
   * Adds a tool.
   *
   * @throws StelloError INVALID_TOOL when it is no tool, when its name is taken, or when a worker that uses the registry
   *   has started
   */
  register(tool: ToolLike): this
  /**
   * Adds a tool of any form: a class, a factory, a tool that describes itself.
   *
   * @throws StelloError INVALID_TOOL as above
   */
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

  /**
   * Closes the registry: all workers of an agent must have the same entries, so nothing may be added after the first starts.
   *
   * @param by who uses it, for the error
   */
  seal(by: string): void {
    this.#late.seal(by)
  }

  /** The tool of that name; undefined when there is none. */
  get(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  /** All tools. */
  list(): Tool[] {
    return [...this.#tools.values()]
  }
}
