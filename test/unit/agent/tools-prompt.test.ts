import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/agent/tool.ts'
import { buildToolsPrompt, generateToolsPrompt } from '../../../src/agent/tools-prompt.ts'

const weather = tool(
  'get_weather',
  'The weather in a city',
  z.object({ city: z.string().describe('Its name'), unit: z.enum(['C', 'F']).optional() }),
  () => 'rain',
  { title: 'Weather' },
)
const now = tool('now', 'The time', z.object({}), () => 'noon')

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

  it('is empty without tools', () => {
    expect(buildToolsPrompt([])).toBe('')
  })
})

describe('generateToolsPrompt', () => {
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
