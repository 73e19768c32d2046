import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BaseTool } from '../../../src/tool/base-tool.ts'
import { ToolRegistryImpl } from '../../../src/tool/tool-registry.ts'
import { toTool } from '../../../src/tool/to-tool.ts'
import { createTool, registerTool, toolRegistry } from '../../../src/tool/compat.ts'
import { tool } from '../../../src/tool/tool-function.ts'
import { buildSessionToolList } from '../../../src/agent/tool-list.ts'
import { buildToolsPrompt, generateToolsPrompt } from '../../../src/agent/tools-prompt.ts'
import { refusal } from './authoring.ts'

const weather = tool(
  'get_weather',
  'The weather in a city',
  z.object({ city: z.string().describe('Its name'), unit: z.enum(['C', 'F']).optional() }),
  () => 'rain',
  { title: 'Weather' },
)
const now = tool('now', 'The time', z.object({}), () => 'noon')

describe('a tool that says only when asked what it does', () => {
  class Late extends BaseTool {
    name = 'late'
    async getDescription() {
      return 'Comes late'
    }
    async getParameters() {
      return z.object({ city: z.string() })
    }
    async execute() {}
  }
  const asked = { name: 'late', getDescription: () => 'd', getParameters: () => ({}), execute: () => undefined }
  const all: [string, unknown][] = [
    ['a class', Late],
    ['a factory', { name: 'late', factory: () => weather }],
    ['one that describes itself', asked],
  ]
  it.each(all)('is refused where it would be told at once: %s', (_what, late) => {
    const says = ': tool "late" says only when asked what it does and takes'
    for (const given of typeof late === 'function' ? [toTool(late)] : [late, toTool(late)]) {
      const tools = [weather, given] as never
      expect(refusal('INVALID_TOOL', () => generateToolsPrompt(tools))).toBe(`generateToolsPrompt${says}`)
      expect(refusal('INVALID_TOOL', () => buildToolsPrompt(tools))).toBe(`buildToolsPrompt${says}`)
      expect(refusal('INVALID_TOOL', () => buildSessionToolList(tools))).toBe(`buildSessionToolList${says}`)
      const registry = new ToolRegistryImpl().register(late as never)
      expect(refusal('INVALID_TOOL', () => buildSessionToolList(registry))).toBe(`buildSessionToolList${says}`)
    }
    expect(refusal('INVALID_TOOL', () => generateToolsPrompt([late] as never))).toMatch(/^generateToolsPrompt: tool "/)
  })
})

describe('buildToolsPrompt', () => {
  it('names each tool with its parameters', () => {
    expect(buildToolsPrompt([weather, now])).toBe(`### get_weather
The weather in a city
Parameters:
  - city (string): Its name
  - unit ("C" | "F")

### now
The time
Parameters: none`)
  })

  it('shows what is inside of lists, objects and choices', () => {
    const parameters = z.toJSONSchema(
      z.object({
        edits: z.array(z.object({ old: z.string(), line: z.union([z.number(), z.null()]) })),
        free: z.record(z.string(), z.unknown()),
        any: z.unknown(),
      }),
    )
    expect(buildToolsPrompt([{ name: 'edit', description: 'Edits', parameters }])).toBe(`### edit
Edits
Parameters:
  - edits (array of { old: string, line: number | null })
  - free (object)
  - any (any)`)
  })

  it('shows values that cannot be otherwise', () => {
    const parameters = z.toJSONSchema(z.object({ kind: z.literal('a'), any: z.union([z.literal(1), z.null()]) }))
    expect(buildToolsPrompt([{ name: 't', description: 'T', parameters }])).toContain(
      '  - kind ("a")\n  - any (1 | null)',
    )
  })

  it('is of all registered tools unless told otherwise', () => {
    registerTool({ name: 'prompted', description: 'Runs', parameters: { type: 'object' } }, () => '')
    expect(buildToolsPrompt()).toBe(buildToolsPrompt(toolRegistry.list()))
    expect(buildToolsPrompt()).toContain('### prompted\nRuns\nParameters: none')
  })

  it('is empty without tools', () => {
    expect(buildToolsPrompt([])).toBe('')
  })
})

describe('generateToolsPrompt', () => {
  it('reads a structured description as text, and the name for people of what a model sees', () => {
    const deploy = createTool({
      name: 'Deploy',
      displayName: 'Deployment',
      description: {
        short: 'Deploys a version',
        long: 'To staging.',
        usageNotes: ['CI must have passed'],
        important: ['Ask first'],
        examples: [{ description: 'A release', params: { version: '1.0' } }],
      },
      schema: z.object({ version: z.string() }),
      execute: () => '',
    })
    const text = `# Available Tools

You have access to the following 1 tool(s):

## Deploy
Display Name: Deployment
Description: Deploys a version

To staging.

Usage notes:
- CI must have passed

Important:
- Ask first

Examples:
- A release: {"version":"1.0"}

Parameters:
  - version: string (required)`
    expect(generateToolsPrompt([deploy])).toBe(text)
    expect(generateToolsPrompt(buildSessionToolList([deploy]).slice(-1))).toBe(text)
  })

  it('is a section with display names and what is required', () => {
    expect(generateToolsPrompt([weather, now])).toBe(`# Available Tools

You have access to the following 2 tool(s):

## get_weather
Display Name: Weather
Description: The weather in a city

Parameters:
  - city: string (required) - Its name
  - unit: "C" | "F" (optional)

## now
Description: The time

Parameters: none`)
  })
})
