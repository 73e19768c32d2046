/** The ways of writing a tool that other systems have, each one line over `toTool`: nothing here may know more about tools than that. */
import type { NamedDescription } from './description.ts'
import type { JsonInput } from './json-input.ts'
import { ToolRegistryImpl } from './tool-registry.ts'
import { toTool } from './to-tool.ts'
import type { ToolLike } from './any-tool.ts'
import type { Tool, ToolContext } from './tool.ts'

/** The type of what a schema accepts: TypeBox, Zod, any other Standard Schema, or JSON Schema written in place. */
export type InputOf<Schema> = Schema extends { static: unknown; params: unknown[] }
  ? (Schema & { params: [] })['static']
  : Schema extends { '~standard': { types?: infer Types } }
    ? NonNullable<Types> extends { output: infer Output }
      ? Output
      : Record<string, unknown>
    : JsonInput<Schema>

/** A tool whose schema stands in `parameters`. */
export type ToolDefinition<Schema = unknown> = ToolLike<InputOf<Schema>> & { parameters: Schema }

/**
 * Gives `execute` and `validate` the type of the checked input, and returns the definition as it is.
 *
 * @param definition `parameters` is TypeBox, Zod, a Standard Schema or JSON Schema; nothing is checked before an agent
 *   takes it
 * @example
 * const lookup = defineTool({
 *   name: 'customer-lookup', label: 'Customer Lookup', description: 'Looks up a customer by account id',
 *   parameters: Type.Object({ accountId: Type.String() }),
 *   execute: async ({ accountId }) => ({ content: [{ type: 'text', text: await find(accountId) }], details: null }),
 * })
 */
export function defineTool<const Schema>(definition: ToolDefinition<Schema>): ToolDefinition<Schema> {
  return definition
}

/**
 * A tool without parameters.
 *
 * @param definition a plain object: its own fields are copied
 * @throws StelloError INVALID_TOOL naming the tool and the field
 * @example defineSimpleTool({ name: 'ping', description: 'Is the service there?', execute: () => 'pong' })
 */
export function defineSimpleTool(definition: ToolLike<Record<string, never>>): Tool {
  return toTool({ ...definition, parameters: { type: 'object', properties: {} } })
}

/**
 * A tool whose schema stands in `schema`.
 *
 * @throws StelloError INVALID_TOOL naming the tool and the field
 * @example
 * const deploy = createTool({
 *   name: 'Deploy', displayName: 'Deployment', kind: 'execute',
 *   description: { short: 'Deploys a version', important: ['Production needs a person'] },
 *   schema: z.object({ version: z.string() }),
 *   execute: async ({ version }) => ({ success: true, llmContent: { version }, displayContent: `v${version} is out` }),
 * })
 */
export function createTool<const Schema>(definition: ToolLike<InputOf<Schema>> & { schema: Schema }): Tool {
  return toTool(definition)
}

/**
 * `toTool` for a definition: the `Tool` of what `defineTool` returned.
 *
 * @throws StelloError INVALID_TOOL naming the tool and the field
 * @example const { effect, parameters } = toolFromDefinition(lookup)
 */
export function toolFromDefinition<const Schema>(definition: ToolDefinition<Schema>): Tool {
  return toTool(definition)
}

/** A plain object: its own fields are copied. */
export interface SimpleTool<Schema = unknown> extends Omit<ToolLike<InputOf<Schema>>, 'description' | 'execute'> {
  /** What the tool does, and its name for people. */
  description: NamedDescription
  /** The schema of its arguments: Zod, JSON Schema, TypeBox or a Standard Schema. */
  parameters: Schema
  /**
   * Its return value is the result. With a third parameter it is also called while the arguments stream in. `isPartial`
   * is true then, the return value does not count, and it may only tell people.
   */
  execute(params: InputOf<Schema>, ctx: ToolContext, isPartial: boolean): unknown
}

/**
 * A tool whose name for people stands in its description.
 *
 * @throws StelloError INVALID_TOOL naming the tool and the field
 * @example
 * const calculator = createSimpleTool({
 *   name: 'calculator', description: { displayName: 'Calculator', description: 'Evaluates an expression' },
 *   parameters: z.object({ expression: z.string() }),
 *   execute: async ({ expression }) => String(evaluate(expression)),
 * })
 */
export function createSimpleTool<const Schema>(simple: SimpleTool<Schema>): Tool {
  return toTool({
    displayName: simple.description.displayName,
    ...simple,
    execute: (params: InputOf<Schema>, ctx: ToolContext) => simple.execute(params, ctx, false),
    ...(simple.execute.length >= 3 && {
      onPartial: async (params: InputOf<Schema>, ctx: ToolContext) => void (await simple.execute(params, ctx, true)),
    }),
  })
}

/**
 * The registry that `registerTool` fills; pass it as `capabilities.tools`. There is one per process: agents that share
 * it share its tools.
 */
export const toolRegistry: ToolRegistryImpl = new ToolRegistryImpl()

/**
 * Puts a tool into `toolRegistry`.
 *
 * @throws StelloError INVALID_TOOL when the tool is not one, or its name is taken
 * @example
 * registerTool(
 *   { name: 'shell', description: 'Runs a command', parameters: Type.Object({ command: Type.String() }) },
 *   ({ command }) => execSync(command, { encoding: 'utf8' }),
 * )
 */
export function registerTool<const Schema>(
  definition: Omit<ToolDefinition<Schema>, 'execute' | 'parameters'> & { parameters: Schema },
  execute: ToolLike<InputOf<Schema>>['execute'],
): void {
  toolRegistry.register(toTool({ ...definition, execute }))
}
