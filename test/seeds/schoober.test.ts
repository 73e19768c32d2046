/** Schoober's document on tools: two channels, arguments that stream in, factories, limits, and the prompt. */
import { expect, it, vi, onTestFinished } from 'vitest'
import { z } from 'zod'
import {
  BaseTool,
  ToolStatus,
  createSimpleTool,
  createStelloAgent,
  generateToolsPrompt,
  withToolsPrompt,
  type Model,
  type ToolContext,
  type ToolDescription,
  type Validation,
} from '../../src/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'
import { callPieces, streamingModel } from '../support/streaming-model.ts'
import { obedient, results } from './obedient.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()

interface Place {
  city: string
}

class WeatherTool extends BaseTool<Place> {
  name = 'get_weather'
  override displayName = 'Weather'
  #seen = 0

  async getDescription(): Promise<ToolDescription> {
    return { displayName: 'Weather', description: 'The weather in a city', category: 'information' }
  }

  async getParameters(): Promise<z.ZodSchema> {
    return z.object({ city: z.string().describe('Its name, such as "Beijing"') })
  }

  override async validate(params: Place): Promise<Validation> {
    return params.city === 'Atlantis' ? { valid: false, reason: 'it is under water' } : { valid: true }
  }

  async execute(params: Place, context: ToolContext, isPartial: boolean): Promise<void> {
    if (isPartial) {
      this.#seen++
      await this.sendToolStatus(context.requestId, ToolStatus.WAIT, {
        showTip: 'Getting ready…',
        params: { ...params, early: true },
      })
      return
    }
    await this.sendToolStatus(context.requestId, ToolStatus.DOING, { showTip: `Asking for ${params.city}…` })
    await this.setToolResult({ temperature: 22, partly: this.#seen > 0 })
    await this.sendToolStatus(context.requestId, ToolStatus.SUCCESS, {
      result: { temperature: 22, condition: 'clear' },
    })
  }
}

/** A factory makes it and connects it. */
class DatabaseQueryTool extends BaseTool<{ table: string }> {
  name = 'database_query'
  #url: string | undefined

  async connectToDatabase(url: string | undefined): Promise<void> {
    this.#url = url
  }

  async getDescription(): Promise<ToolDescription> {
    return { displayName: 'Query', description: `Reads tables of ${this.#url}` }
  }

  async getParameters(): Promise<z.ZodSchema> {
    return z.object({ table: z.enum(['cities']) })
  }

  async execute({ table }: { table: string }, _context: ToolContext, isPartial: boolean): Promise<void> {
    if (!isPartial) await this.setToolResult(`${table} of ${this.#url}`)
  }
}

const calculatorTool = createSimpleTool({
  name: 'calculator',
  description: {
    displayName: 'Calculator',
    description: 'Does sums',
  },
  parameters: z.object({
    expression: z.string().describe('A sum'),
    exact: z.boolean().optional(),
  }),
  execute: async (params, _context, isPartial) => {
    if (isPartial) return
    return `${params.expression.split('+').reduce((sum, term) => sum + Number(term), 0)} ${typeof params.exact}`
  },
})

let agents = 0
async function sessionOf(llm: Model, more: Partial<Parameters<typeof createStelloAgent>[0]> = {}) {
  const name = `seed-schoober-${process.pid}-${++agents}`
  const agent = createStelloAgent({ name, llm, capabilities: { tools: [calculatorTool] }, ...more })
  agent.registerTool(WeatherTool)
  agent.registerTool({
    name: 'database_query',
    factory: async (context) => {
      const tool = new DatabaseQueryTool()
      await tool.connectToDatabase(`${process.env['DB_URL']} for ${context.userId}`)
      return tool
    },
  })
  await stello.serve(agent)
  return stello.client.createSession({ agent: name, userId: 'ann' })
}

it('a call is a card from its first arguments on: what people see is collected, and is apart from what the model reads', async () => {
  const llm = streamingModel(callPieces('get_weather', ['{"city":"Bei', 'jing"}']))
  const session = await sessionOf(llm)
  const turn = await session.send('go')
  const waiting = await eventsUntil(session, ({ data }) => fieldOf(data, 'showTip') === 'Getting ready…', {
    live: true,
  })
  expect(waiting.at(-1)?.data).toMatchObject({ status: 'WAIT', params: { city: 'Bei', early: true } })
  llm.open()
  expect((await turn.result()).text).toBe('read {"temperature":22,"partly":true}')
  const ended = await eventsUntil(session, ({ data }) => fieldOf(data, 'status') === 'SUCCESS')
  expect(ended.at(-1)?.data).toMatchObject({
    showTip: 'Asking for Beijing…',
    params: { city: 'Beijing', early: true },
    result: { temperature: 22, condition: 'clear' },
  })
})

it('arguments are repaired where the schema wants it, checked, and counted with how long the tools took', async () => {
  vi.stubEnv('DB_URL', 'db://here')
  onTestFinished(() => void vi.unstubAllEnvs())
  const session = await sessionOf(scriptedModel(obedient))
  const read = await results(
    session,
    { name: 'calculator', arguments: { expression: '1+2', exact: 'true' } },
    { name: 'calculator', arguments: { exact: 'yes' } },
    { name: 'database_query', arguments: { table: 'cities' } },
    { name: 'get_weather', arguments: { city: 'Atlantis' } },
    { name: 'get_wether' },
  )
  expect(read).toEqual([
    '3 boolean',
    expect.stringMatching(/^TOOL_VALIDATION_ERROR: .*expression/s),
    'cities of db://here for ann',
    'Tool precondition failed: it is under water',
    expect.stringMatching(/^TOOL_NOT_FOUND: .*get_weather/),
  ])
  const { tools } = await session.stats()
  const calculator = tools.find(({ toolName }) => toolName === 'calculator')
  expect(calculator).toEqual({
    toolName: 'calculator',
    executionCount: 2,
    successCount: 1,
    failureCount: 1,
    totalDuration: expect.any(Number) as number,
    averageDuration: (calculator?.totalDuration ?? 0) / 2,
    errors: { TOOL_VALIDATION_ERROR: 1 },
  })
})

it('a tool that runs out of time three times in a row pauses the session', async () => {
  const hang = createSimpleTool({
    name: 'hang',
    description: { displayName: 'Hang', description: 'Does not end' },
    parameters: z.object({}),
    execute: () => new Promise(() => undefined),
  })
  const llm = scriptedModel(() => ({ toolCalls: [{ name: 'hang' }] }))
  const session = await sessionOf(llm, { executionTimeout: 100, capabilities: { tools: [hang] } })
  const turn = await session.send('go')
  await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
  const read = (await session.transcript()).filter(({ role }) => role === 'tool')
  expect(read.map(({ content }) => content)).toEqual(Array(3).fill(expect.stringMatching(/^TOOL_TIMEOUT: /)))
})

it('the system tools complete and delegate, until a tool of the user takes their name', async () => {
  const delegate = { name: 'new_task', arguments: { label: 'sums', message: 'Add 1 and 2' } }
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [delegate] }],
      ['Add 1 and 2', 'It is 3.'],
      [{ tool: 'new_task' }, { toolCalls: [{ name: 'attempt_completion', arguments: { result: 'Three.' } }] }],
      [{ tool: 'attempt_completion' }, 'went on'],
    ]),
  )
  const session = await sessionOf(llm, { systemTools: true })
  expect(await ask(session, 'go')).toBe('Three.')
  const answer = (await session.transcript()).find(({ name }) => name === 'new_task')
  expect(answer?.content).toContain('It is 3.')

  const mine = createSimpleTool({
    name: 'attempt_completion',
    description: { displayName: 'Mine', description: 'Ends nothing' },
    parameters: z.object({ result: z.string() }),
    execute: async ({ result }) => `not yet: ${result}`,
  })
  const own = await sessionOf(withToolsPrompt(llm), { systemTools: true, capabilities: { tools: [mine] } })
  expect(await ask(own, 'go')).toBe('went on')
  const prompt = llm.calls.at(-1)?.messages[0]?.content ?? ''
  expect(prompt.match(/## attempt_completion\n.*\n.*/g)).toEqual([
    '## attempt_completion\nDisplay Name: Mine\nDescription: Ends nothing',
  ])
  expect((await own.transcript()).at(-2)?.content).toBe('not yet: Three.')
})

it('the prompt is made of the tools, in every round', async () => {
  const llm = scriptedModel(obedient)
  const session = await sessionOf(withToolsPrompt(llm), { capabilities: {}, systemPrompt: 'You help.' })
  await results(session, { name: 'get_weather', arguments: { city: 'Oslo' } })
  const prompts = llm.calls.map(({ messages }) => messages[0]?.content ?? '')
  expect(prompts).toHaveLength(2)
  expect(new Set(prompts).size).toBe(1)
  expect(prompts[0]).toMatch(/^You help\.\n\n# Available Tools\n\nYou have access to the following 3 tool\(s\):\n\n## /)
  expect(prompts[0]).toContain(`## get_weather
Display Name: Weather
Description: The weather in a city

Parameters:
  - city: string (required) - Its name, such as "Beijing"`)
  expect(generateToolsPrompt([calculatorTool])).toBe(`# Available Tools

You have access to the following 1 tool(s):

## calculator
Display Name: Calculator
Description: Does sums

Parameters:
  - expression: string (required) - A sum
  - exact: boolean (optional)`)
})
