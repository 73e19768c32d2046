/** Tools as text, for models that are told of them in their system prompt. */
import { mustBeKnown } from '../tool/dynamic-tool.ts'
import { toolRegistry } from '../tool/compat.ts'
import type { JsonSchema, ToolSpec } from '../core/model.ts'
import { isObject } from '../core/is-object.ts'

/** How deep the fields of nested objects are named. */
const DEPTH_LIMIT = 4

/**
 * The tools as short text, for a system prompt of one's own.
 *
 * @param tools default: all of `toolRegistry`
 * @throws StelloError INVALID_TOOL for a class, a factory or a tool that describes itself: those are asked in a session
 * @example
 * buildToolsPrompt([deploy])
 * // ### deploy
 * // Execute a command
 * // Parameters:
 * //   - command (string): The command
 */
export function buildToolsPrompt(tools: readonly ToolSpec[] = toolRegistry.list()): string {
  for (const tool of tools) mustBeKnown(tool, 'buildToolsPrompt')
  const sections = tools.map(({ name, description, parameters }) =>
    [
      `### ${name}`,
      description,
      ...parametersOf(parameters, ({ key, type, about }) => `  - ${key} (${type})${about && `: ${about}`}`),
    ].join('\n'),
  )
  return sections.join('\n\n')
}

/**
 * The tools as a section of a system prompt, as `jsonActions` puts it there in every call. Other models need it only
 * when `withToolsPrompt` or an author asks for it.
 *
 * @param tools tools, or what a model sees of them; the name for people is `displayName` or the annotation `title`
 * @throws StelloError INVALID_TOOL for a class, a factory or a tool that describes itself: those are asked in a session
 * @example systemPrompt: `You research.\n\n${generateToolsPrompt(tools)}`
 */
export function generateToolsPrompt(tools: readonly (ToolSpec & { annotations?: { title?: string } })[]): string {
  for (const tool of tools) mustBeKnown(tool, 'generateToolsPrompt')
  const sections = tools.map(({ name, displayName, description, parameters, annotations }) => {
    const title = displayName ?? annotations?.title
    const lines = [
      `## ${name}`,
      ...(title ? [`Display Name: ${title}`] : []),
      `Description: ${description}`,
      '',
      ...parametersOf(parameters, ({ key, type, required, about }) => {
        return `  - ${key}: ${type} (${required ? 'required' : 'optional'})${about && ` - ${about}`}`
      }),
    ]
    return lines.join('\n')
  })
  return ['# Available Tools', `You have access to the following ${tools.length} tool(s):`, ...sections].join('\n\n')
}

interface Parameter {
  key: string
  type: string
  required: boolean
  about: string
}

function parametersOf({ properties, required }: JsonSchema, toLine: (parameter: Parameter) => string): string[] {
  const fields = Object.entries(isObject(properties) ? properties : {})
  if (fields.length === 0) return ['Parameters: none']
  const lines = fields.map(([key, schema]) => {
    const { description } = isObject(schema) ? schema : {}
    return toLine({
      key,
      type: typeOf(schema),
      required: Array.isArray(required) && required.includes(key),
      about: typeof description === 'string' ? description : '',
    })
  })
  return ['Parameters:', ...lines]
}

function typeOf(schema: unknown, depth = 0): string {
  if (!isObject(schema) || depth > DEPTH_LIMIT) return 'any'
  const { type, properties, items } = schema
  const choices = schema['anyOf'] ?? schema['oneOf']
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(choices)) return choices.map((choice) => typeOf(choice, depth + 1)).join(' | ')
  if (isObject(properties) && Object.keys(properties).length > 0) {
    const fields = Object.entries(properties).map(([key, field]) => `${key}: ${typeOf(field, depth + 1)}`)
    return `{ ${fields.join(', ')} }`
  }
  if (isObject(items)) return `array of ${typeOf(items, depth + 1)}`
  return Array.isArray(type) ? type.join(' | ') : typeof type === 'string' ? type : 'any'
}
