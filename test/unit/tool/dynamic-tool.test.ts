/** Tools that are complete only when they are needed: objects that describe themselves, classes, factories. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createStelloAgent } from '../../../src/agent/agent.ts'
import { BaseTool } from '../../../src/tool/base-tool.ts'
import { createSimpleTool } from '../../../src/tool/compat.ts'
import { toTool } from '../../../src/tool/to-tool.ts'
import { type ToolLike } from '../../../src/tool/any-tool.ts'
import { ToolStatus } from '../../../src/tool/tool-status.ts'
import type { SessionContext, Tool, ToolContext } from '../../../src/tool/tool.ts'
import { llm, named, refusal } from '../agent/authoring.ts'

/** What a tool said on its two channels. */
function context(): { ctx: ToolContext; said: unknown[] } {
  const said: unknown[] = []
  const ctx = {
    requestId: 'r-1',
    setToolResult: async (result: unknown) => void said.push(['result', result]),
    sendToolStatus: async (...status: unknown[]) => void said.push(status),
  } as unknown as ToolContext
  return { ctx, said }
}

const session: SessionContext = {
  sessionId: 's-1',
  rootId: 's-1',
  depth: 0,
  userId: 'ann',
  signal: new AbortController().signal,
}

async function opened(tool: Tool, ctx: SessionContext = session): Promise<Tool> {
  if (!tool.open) throw new Error(`tool "${tool.name}" is not dynamic`)
  return (await tool.open(ctx)).tool
}

let cities: string[] = []

class WeatherTool extends BaseTool<{ city: string }> {
  name = 'get_weather'
  override kind = 'readonly' as const
  override effect = 'pure' as const
  override timeout = '30s'
  asked = 0

  async getDescription() {
    return { displayName: 'Weather', description: `The weather in ${cities.length} cities`, category: 'info' }
  }

  async getParameters() {
    return z.object({ city: z.enum(cities as [string]) })
  }

  async execute({ city }: { city: string }, ctx: ToolContext, isPartial: boolean) {
    this.asked++
    if (isPartial) return this.sendToolStatus(ctx.requestId, ToolStatus.WAIT, { showTip: `Asking for ${city}` })
    await this.setToolResult({ city, asked: this.asked })
  }
}

describe('a class', () => {
  it('is known by the facts of its instance, and describes itself when it is opened', async () => {
    const tool = toTool(WeatherTool)
    expect(tool).toMatchObject({ name: 'get_weather', kind: 'readonly', effect: 'pure', timeoutMs: 30_000 })
    cities = ['Oslo', 'Rome']
    const now = await opened(tool)
    expect(now).toMatchObject({
      name: 'get_weather',
      description: 'The weather in 2 cities',
      annotations: { title: 'Weather' },
      answersBy: 'channel',
      parameters: { properties: { city: { enum: ['Oslo', 'Rome'] } } },
    })
    expect(now.check({ city: 'Bonn' }).ok).toBe(false)
    cities = ['Bonn']
    expect((await opened(tool)).check({ city: 'Bonn' }).ok).toBe(true)
  })

  it('has one instance for partial and complete arguments of a call, and another for the next call', async () => {
    const tool = toTool(WeatherTool)
    const { ctx, said } = context()
    const first = await opened(tool)
    await first.onPartial?.({ city: 'Os' }, ctx)
    await first.execute({ city: 'Oslo' }, ctx)
    await (await opened(tool)).execute({ city: 'Rome' }, ctx)
    expect(said).toEqual([
      ['r-1', 'WAIT', { showTip: 'Asking for Os' }],
      ['result', { city: 'Oslo', asked: 2 }],
      ['result', { city: 'Rome', asked: 1 }],
    ])
  })

  it('whose constructor throws, or that has no name, is refused', () => {
    class Broken {
      name = 'broken'
      constructor() {
        throw new Error('no key')
      }
    }
    class Nameless {
      name = ''
    }
    expect(refusal('INVALID_TOOL', () => toTool(Broken))).toBe('tool class "Broken" cannot be made: no key')
    expect(refusal('INVALID_TOOL', () => toTool(Nameless))).toContain('tool ""')
  })

  it('is expected, and not its instance, because an instance could serve only one call', () => {
    expect(refusal('INVALID_TOOL', () => toTool(new WeatherTool()))).toContain('give the class, or { name, factory }')
  })

  it('has no channels outside a call', async () => {
    await expect(new WeatherTool().execute({ city: 'Oslo' }, context().ctx, false)).rejects.toMatchObject({
      code: 'INVALID_TOOL',
      message: expect.stringContaining('has no call') as string,
    })
  })
})

describe('a factory', () => {
  it('is told the session, and what it makes is disposed of', async () => {
    const ended: string[] = []
    class Query {
      name = 'of the class'
      readonly user: string | undefined
      constructor(user: string | undefined) {
        this.user = user
      }
      getDescription = () => `Asks as ${this.user}`
      getParameters = async () => ({ type: 'object', properties: { sql: { type: 'string' } } })
      execute = () => undefined
      dispose = () => void ended.push(String(this.user))
    }
    const tool = toTool({
      name: 'database_query',
      effect: 'pure',
      factory: async ({ userId }: SessionContext) => new Query(userId),
    })
    expect(tool).toMatchObject({ name: 'database_query', effect: 'pure' })
    const { tool: now, dispose } = (await tool.open?.(session)) ?? {}
    expect(now).toMatchObject({ name: 'database_query', description: 'Asks as ann' })
    expect(ended).toEqual([])
    await dispose?.()
    expect(ended).toEqual(['ann'])
  })

  it('may make a tool of any other form', async () => {
    const tool = toTool({ name: 'made', factory: () => named('inner') })
    const now = await opened(tool)
    expect(now).toMatchObject({ name: 'made', description: 'does inner' })
    expect(await now.execute({}, context().ctx)).toBe('inner')
    expect(await tool.execute({}, context().ctx)).toBe('inner')
    await expect(opened(toTool({ name: 'nested', factory: () => WeatherTool }))).rejects.toMatchObject({
      code: 'INVALID_TOOL',
    })
  })

  it('disposes of an instance whose description cannot be read', async () => {
    const ended: string[] = []
    const instance = {
      getDescription: () => Promise.reject(new Error('no database')),
      getParameters: () => ({ type: 'object' }),
      execute: () => undefined,
      dispose: () => void ended.push('disposed'),
    }
    await expect(opened(toTool({ name: 'made', factory: () => instance }))).rejects.toThrow('no database')
    expect(ended).toEqual(['disposed'])
  })
})

describe('an object that describes itself', () => {
  it('is shared by all calls: never disposed', async () => {
    const ended: string[] = []
    const tool = toTool({
      name: 'shared',
      getDescription: async () => ({ short: 'Shared.', important: ['yes'] }),
      getParameters: async () => z.object({ n: z.number() }),
      validate: ({ n }: { n: number }) => ({ valid: n > 0, reason: 'too small' }),
      execute: async ({ n }: { n: number }, ctx: ToolContext) => ctx.setToolResult(n),
      dispose: () => void ended.push('disposed'),
    })
    const { tool: now, dispose } = (await tool.open?.(session)) ?? {}
    expect(now).toMatchObject({ description: 'Shared.\n\nImportant:\n- yes', answersBy: 'channel' })
    // `execute` does not take `isPartial`, so it could not tell half a call from a whole one.
    expect(now).not.toHaveProperty('onPartial')
    await expect(now?.precondition?.({ n: 0 }, context().ctx)).rejects.toThrow('Tool precondition failed: too small')
    await dispose?.()
    expect(ended).toEqual([])
  })
})

describe('registerTool of an agent', () => {
  it('takes classes, factories and every other form, until a name comes twice', () => {
    const agent = createStelloAgent({ name: 'a', llm, capabilities: { tools: [named('one'), WeatherTool] } })
    agent.registerTool({ name: 'database_query', factory: async () => named('inner') })
    agent.registerTool(named('two'))
    agent.registerTool(named('activate_skill'))
    expect([...agent.tools.keys()]).toEqual(['one', 'get_weather', 'database_query', 'two'])
    expect(agent.warnings).toEqual([expect.stringContaining('"activate_skill" is left out')])
    expect(refusal('INVALID_TOOL', () => agent.registerTool(WeatherTool))).toContain('"get_weather" is there twice')
  })

  it('knows what an execute written in a list is given', () => {
    const agent = createStelloAgent({
      name: 'a',
      llm,
      capabilities: {
        tools: [
          {
            ...named('typed'),
            execute: (args, ctx) => {
              expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>()
              expectTypeOf(ctx).toEqualTypeOf<ToolContext>()
            },
          },
          {
            name: 'made',
            factory: (ctx) => {
              expectTypeOf(ctx).toEqualTypeOf<SessionContext>()
              return named('inner')
            },
          },
        ],
      },
    })
    expect(agent.tools.size).toBe(2)
  })
})

describe('partial arguments', () => {
  it('reach onPartial with aliases applied, typed as incomplete', async () => {
    const seen: unknown[] = []
    const like: ToolLike<{ path: string }> = {
      name: 'write',
      description: 'd',
      parameters: z.object({ path: z.string() }),
      aliases: { filePath: 'path' },
      onPartial: (args) => {
        expectTypeOf(args).toEqualTypeOf<Partial<{ path: string }>>()
        seen.push(args)
      },
      execute: () => 'done',
    }
    await toTool(like).onPartial?.({ filePath: '/tm' }, context().ctx)
    expect(seen).toEqual([{ path: '/tm' }])
  })

  it('reach a simple tool only if it can tell them from complete ones', async () => {
    const base = { name: 's', description: { description: 'd' }, parameters: z.object({}) }
    const seen: unknown[] = []
    const telling = createSimpleTool({ ...base, execute: async (_params, _ctx, isPartial) => seen.push(isPartial) })
    await telling.onPartial?.({}, context().ctx)
    await telling.execute({}, context().ctx)
    expect(seen).toEqual([true, false])
    expect(createSimpleTool({ ...base, execute: async () => 'works at once' })).not.toHaveProperty('onPartial')
  })

  it('need a function', () => {
    expect(refusal('INVALID_TOOL', () => toTool({ ...named('w'), onPartial: 'yes' }))).toContain(
      'tool "w": onPartial must be a function',
    )
  })
})
