/** Tools with two channels, with arguments that stream in, and with an instance for each call. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BaseTool } from '../../src/tool/base-tool.ts'
import { StelloError } from '../../src/core/errors.ts'
import type { Model } from '../../src/core/model.ts'
import { ToolStatus } from '../../src/tool/tool-status.ts'
import { type ToolContext } from '../../src/tool/tool.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { StelloEvent } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'
import { callPieces, streamingModel } from '../support/streaming-model.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const card = (event: StelloEvent): unknown => fieldOf(event.data, 'status')
const isCard = (status: string) => (event: StelloEvent) => event.type === 'tool.status' && card(event) === status

/** What happened to the instances of one test. */
function weather() {
  const life: string[] = []
  const working = createGate()
  let made = 0
  class Weather extends BaseTool<{ city: string }> {
    name = 'get_weather'
    readonly #number = made++

    async getDescription() {
      return { displayName: 'Weather', description: 'The weather in a city' }
    }

    async getParameters() {
      return z.object({ city: z.string(), days: z.number() })
    }

    async execute({ city }: { city: string }, { requestId }: ToolContext, isPartial: boolean) {
      if (isPartial) {
        life.push(`partial ${city}`)
        await this.setToolResult('too early')
        return this.sendToolStatus(requestId, ToolStatus.WAIT, {
          showTip: `Looking for ${city}`,
          params: { seen: city },
        })
      }
      life.push(`execute ${city} ${this.#number}`)
      await this.sendToolStatus(requestId, ToolStatus.DOING, { showTip: `Asking ${city}` })
      await working.pass()
      if (city === 'Nowhere') return
      await this.setToolResult({ degrees: 3 })
      await this.sendToolStatus(requestId, ToolStatus.SUCCESS, { result: { icon: 'snow' } })
    }

    override async dispose() {
      life.push(`dispose ${this.#number}`)
    }
  }
  return { Weather, life, working }
}

/** A model that breaks off its first answer when it is whole. */
function breakingOnce(llm: Model): Model {
  let broken = false
  return {
    name: llm.name,
    async complete(messages, options) {
      const completion = await llm.complete(messages, options)
      if (broken) return completion
      broken = true
      throw new StelloError('MODEL_UNAVAILABLE', 'the stream broke off', { retryAfterMs: 1 })
    },
  }
}

describe('a call of a tool with two channels', () => {
  it('is a card from its first arguments to its end, and one instance serves the whole call', async () => {
    const { Weather, life, working } = weather()
    const llm = streamingModel(callPieces('get_weather', ['{"city":"Os', 'lo","da', 'ys":2}']))
    const session = await stello.session({ llm, capabilities: { tools: [Weather] } })
    // Another instance has described the tool to the model.
    const turn = await session.send('go')
    await llm.gates[0]?.reached()
    expect(life).toEqual(['dispose 1'])
    life.length = 0

    const tipped = await eventsUntil(session, ({ data }) => fieldOf(data, 'showTip') === 'Looking for Os', {
      live: true,
    })
    expect(tipped.at(-1)?.data).toMatchObject({
      status: 'WAIT',
      name: 'get_weather',
      callId: 'call_0',
      params: { city: 'Os', seen: 'Os' },
    })
    llm.gates[0]?.open()
    // The days are missing before their number is complete.
    await eventsUntil(session, ({ data }) => fieldOf(data, 'showTip') === 'Looking for Oslo', { live: true })
    llm.open()
    const doing = await eventsUntil(session, ({ data }) => fieldOf(data, 'showTip') === 'Asking Oslo', { live: true })
    expect(doing.at(-1)?.data).toMatchObject({ status: 'DOING', params: { city: 'Oslo', days: 2, seen: 'Oslo' } })
    expect(life).toEqual(['partial Os', 'partial Oslo', 'execute Oslo 2'])
    working.open()

    expect((await turn.result()).text).toBe('read {"degrees":3}')
    const ended = await eventsUntil(session, isCard('SUCCESS'))
    expect(ended.at(-1)?.data).toMatchObject({
      callId: 'call_0',
      showTip: 'Asking Oslo',
      params: { city: 'Oslo', days: 2, seen: 'Oslo' },
      result: { icon: 'snow' },
    })
    expect(life).toContain('dispose 2')
  })

  it('that ends without a result is an error for the model', async () => {
    const { Weather, working } = weather()
    working.open()
    const llm = streamingModel(callPieces('get_weather', ['{"city":"Nowhere","days":1}']))
    llm.open()
    const session = await stello.session({ llm, capabilities: { tools: [Weather] } })
    expect(await ask(session, 'go')).toBe(
      'read TOOL_EXECUTION_ERROR: tool "get_weather" ended without a result: it did not call setToolResult',
    )
    expect((await session.transcript())[2]).toMatchObject({ isError: true })
    const ended = await eventsUntil(session, isCard('ERROR'))
    expect(ended.at(-1)?.data).toMatchObject({ code: 'TOOL_EXECUTION_ERROR' })
  })

  it('that never runs has its instance disposed of', async () => {
    const { Weather, life } = weather()
    const llm = streamingModel(callPieces('get_weather', ['{"city":"Oslo"', ',"days":2}']))
    const session = await stello.session({ llm, capabilities: { tools: [Weather] } })
    const turn = await session.send('go')
    await eventsUntil(session, ({ data }) => fieldOf(data, 'showTip') === 'Looking for Oslo', { live: true })
    await session.cancelTurn()
    expect((await turn.result()).stopReason).toBe('cancelled')
    expect(life).toEqual(['dispose 1', 'partial Oslo', 'dispose 2'])
  })
})

describe('an answer that breaks off and is asked for again', () => {
  it('lets the call begin anew: another instance, another card', async () => {
    const { Weather, life, working } = weather()
    working.open()
    const llm = streamingModel(callPieces('get_weather', ['{"city":"Oslo"', ',"days":2}']))
    const session = await stello.session({ llm: breakingOnce(llm), capabilities: { tools: [Weather] } })
    const turn = await session.send('go')
    await eventsUntil(session, ({ data }) => fieldOf(data, 'showTip') === 'Looking for Oslo', { live: true })
    llm.gates[0]?.open()
    llm.gates[1]?.open()
    expect((await turn.result()).text).toBe('read {"degrees":3}')
    // Instances 1 and 3 described the tool to the model, 2 saw only half of its arguments.
    expect(life.filter((event) => event.startsWith('execute'))).toEqual(['execute Oslo 4'])
    expect(life.indexOf('dispose 2')).toBeGreaterThan(0)
    expect(life.indexOf('dispose 2')).toBeLessThan(life.indexOf('execute Oslo 4'))
  })
})

describe('a tool of any form', () => {
  it('may use the channels of its context, and what it sets there wins over what it returns', async () => {
    const half = tool('half', 'Halves', z.object({ n: z.number() }), async ({ n }, ctx) => {
      await ctx.setToolResult({ content: String(n / 2), details: { for: 'people' } })
      await ctx.sendToolStatus(ctx.requestId, ToolStatus.ERROR, { showTip: 'never mind', result: 'half' })
      return 'unread'
    })
    const llm = streamingModel(callPieces('half', ['{"n":8}']))
    llm.open()
    const session = await stello.session({ llm, capabilities: { tools: [half] } })
    expect(await ask(session, 'go')).toBe('read 4')
    const ended = await eventsUntil(session, isCard('ERROR'))
    expect(ended.at(-1)?.data).toMatchObject({ showTip: 'never mind', result: 'half', details: { for: 'people' } })
    expect((await session.stats()).tools).toMatchObject([{ toolName: 'half', successCount: 1 }])
  })

  it('may look at its arguments early by onPartial, but may neither work there nor hold up the stream', async () => {
    const seen: unknown[] = []
    const stuck = createGate()
    const write = {
      name: 'write',
      description: 'Writes',
      parameters: z.object({ path: z.string(), text: z.string() }),
      aliases: { file: 'path' },
      async onPartial(args: unknown, { signal, contextSnapshot }: ToolContext) {
        seen.push(args, contextSnapshot)
        signal.addEventListener('abort', () => stuck.open())
        await stuck.pass()
      },
      execute: ({ path }: { path: string }) => `wrote ${path}`,
    }
    const llm = streamingModel(callPieces('write', ['{"file":"a", "te', 'xt":"b', '"}']))
    const session = await stello.session({ llm, capabilities: { tools: [write] } })
    const turn = await session.send('go')
    await stuck.reached()
    llm.open()
    expect((await turn.result()).text).toBe('read wrote a')
    expect(seen).toEqual([{ path: 'a' }, undefined])
  })
})

describe('the description of a tool', () => {
  it('is asked for each model call', async () => {
    let tables = ['users']
    const query = {
      name: 'query',
      getDescription: async () => `Reads ${tables.join(' and ')}`,
      getParameters: async () => z.object({ table: z.enum(tables as [string]) }),
      execute: async ({ table }: { table: string }, ctx: ToolContext) => {
        tables = ['users', 'orders']
        await ctx.setToolResult(`rows of ${table}`)
      },
    }
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'query', arguments: { table: 'orders' } }] }],
        [
          ({ content }) => content.startsWith('TOOL_VALIDATION_ERROR'),
          { toolCalls: [{ name: 'query', arguments: { table: 'users' } }] },
        ],
        [{ tool: 'query' }, 'done'],
      ]),
    )
    const session = await stello.session({ llm, capabilities: { tools: [query] } })
    await ask(session, 'go')
    expect(llm.calls.map(({ tools }) => tools.find(({ name }) => name === 'query')?.description)).toEqual([
      'Reads users',
      'Reads users',
      'Reads users and orders',
    ])
    expect(llm.calls[2]?.tools.find(({ name }) => name === 'query')?.parameters).toMatchObject({
      properties: { table: { enum: ['users', 'orders'] } },
    })
  })

  it('that cannot be had leaves out only that tool', async () => {
    const down = { name: 'down', factory: () => Promise.reject(new Error('no database')) }
    const up = tool('up', 'Is there', z.object({}), () => 'up')
    const llm = scriptedModel(['hello'])
    const session = await stello.session({ llm, capabilities: { tools: [down, up] } })
    expect(await ask(session, 'hi')).toBe('hello')
    expect(llm.calls[0]?.tools.map(({ name }) => name)).toEqual(['stello_create_session', 'up'])
    expect(stello.warnings).toEqual(['tool "down" is left out of a model call: no database'])
  })
})
