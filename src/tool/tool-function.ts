/** `tool(…)`, the shortest way of writing a tool. */
import type { z } from 'zod'
import { toTool } from './to-tool.ts'
import type { CallToolResult, Tool, ToolContext, ToolExtras } from './tool.ts'

/**
 * Defines a tool.
 *
 * @param name 1 to 64 letters, digits, `_` or `-`
 * @param description tells the model when to use it
 * @param inputSchema a Zod object; the model's arguments are checked against it before `execute` runs
 * @param execute gets the checked input; an error it throws is shown to the model
 * @param extras hints (also shown to people), `effect`, `kind`, `timeout` (milliseconds or text such as `'30s'`),
 *   `retries`, `onUnknownOutcome`, `verify`, `ordered`, `runsIn`, `touches`
 * @throws StelloError INVALID_TOOL naming the tool and the field
 * @example
 * const weather = tool(
 *   'get_weather', 'The weather in a city', z.object({ city: z.string() }),
 *   async ({ city }) => ({ content: [{ type: 'text', text: await forecast(city) }] }),
 *   { readOnlyHint: true, timeout: '30s' },
 * )
 */
export function tool<Schema extends z.ZodType>(
  name: string,
  description: string,
  inputSchema: Schema,
  execute: (input: z.output<Schema>, ctx: ToolContext) => CallToolResult | string | Promise<CallToolResult | string>,
  extras: ToolExtras<z.output<Schema>> = {},
): Tool {
  const { effect, kind, timeout, retries, onUnknownOutcome, verify, ordered, runsIn, touches, ...annotations } = extras
  const said = { effect, kind, timeout, retries, onUnknownOutcome, verify, ordered, runsIn, touches }
  return toTool({ name, description, inputSchema, execute, annotations, ...said })
}
