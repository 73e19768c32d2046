/** A session outlives the agent that it was started with. Each test serves it by a changed agent. */
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { SkillRouterImpl } from '../../src/agent/skill-router.ts'
import { type ToolExtras } from '../../src/tool/tool.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { replyBy, scriptedModel, startFakeOpenAI } from '../../src/testing/index.ts'
import type { StelloWorker } from '../../src/worker.ts'
import { onlyChild, profiles } from '../support/forks.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { ask, eventOf, useStello, type TestAgent } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'

const stello = useStello()
const WORKERS = inject('workersPerAgent') ?? 1
const gates: Gate[] = []
afterEach(() => gates.splice(0).forEach((gate) => gate.open()))

const fork = (label: string, args: object = {}): { name: string; arguments: object } => ({
  name: 'stello_create_session',
  arguments: { label, ...args },
})
/** Calls the tool that a message names, and repeats its result. */
const llm = (): ReturnType<typeof scriptedModel> =>
  scriptedModel(
    replyBy([
      [/^call /, ({ messages }) => ({ toolCalls: [{ name: messages.at(-1)?.content.slice(5) ?? '' }] })],
      ['fork', { toolCalls: [fork('child', { profile: 'short' })] }],
      ['skill', { toolCalls: [{ name: 'activate_skill', arguments: { name: 'writing' } }] }],
      [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
    ]),
  )
const named = (name: string, run: () => string | Promise<string> = () => `${name} done`, extras: ToolExtras = {}) =>
  tool(name, `Is ${name}`, z.object({}), run, extras)

/** One agent after the other serves the same sessions. */
function deployments(): { deploy(agent: TestAgent): Promise<StelloWorker>; start(): Promise<SessionHandle> } {
  const name = `deployed-${randomBytes(4).toString('hex')}`
  let serving: StelloWorker | undefined
  return {
    async deploy(agent) {
      await serving?.stop()
      serving = await stello.work({ ...agent, name })
      return serving
    },
    start: () => stello.client.createSession({ agent: name }),
  }
}

describe('after a deploy', () => {
  it('a session keeps its prompt, and a new one gets the new', async () => {
    const { deploy, start } = deployments()
    const model = llm()
    await deploy({ llm: model, systemPrompt: 'old prompt' })
    const session = await start()
    await ask(session, 'before')
    await deploy({ llm: model, systemPrompt: 'new prompt' })
    await ask(session, 'after')
    await ask(await start(), 'in a new one')
    expect(model.calls.map(({ messages }) => messages[0]?.content)).toEqual(['old prompt', 'old prompt', 'new prompt'])
  })

  it('added tools can be called, and a call of a removed tool is answered with the tools that exist', async () => {
    const { deploy, start } = deployments()
    await deploy({ llm: llm(), capabilities: { tools: [named('look')] } })
    const session = await start()
    expect(await ask(session, 'call look')).toBe('read: look done')
    const model = llm()
    await deploy({ llm: model, capabilities: { tools: [named('find')] } })
    expect(await ask(session, 'call find')).toBe('read: find done')
    expect(await ask(session, 'call look')).toBe(
      'read: TOOL_NOT_FOUND: unknown tool "look". Available: stello_create_session, find',
    )
    expect(model.calls.at(-1)?.tools.map((spec) => spec.name)).toEqual(['stello_create_session', 'find'])
  })

  it.each<[string, ToolExtras, RegExp]>([
    [
      'one that may be repeated is not found',
      { readOnlyHint: true },
      /^read: TOOL_NOT_FOUND: unknown tool "held".*find$/,
    ],
    ['one that may not be has an unknown outcome', {}, /^read: TOOL_OUTCOME_UNKNOWN: /],
  ])('of the running calls of a removed tool, %s', async (_what, extras, reads) => {
    const { deploy, start } = deployments()
    const gate = createGate()
    gates.push(gate)
    const wait = (): Promise<string> => gate.pass().then(() => 'done')
    await deploy({ llm: llm(), capabilities: { tools: [named('held', wait, extras)] } })
    const session = await start()
    const turn = await session.send('call held')
    await gate.reached()
    await deploy({ llm: llm(), capabilities: { tools: [named('find')] } })
    expect((await turn.result()).text).toMatch(reads)
  })

  it('a living child whose profile is gone goes on, and its own forks are told which profiles exist', async () => {
    const { deploy, start } = deployments()
    const served = (profileNames: string[]): TestAgent => ({
      llm: llm(),
      capabilities: {
        profiles: profiles(Object.fromEntries(profileNames.map((each) => [each, { systemPrompt: `be ${each}` }]))),
        tools: [named('look')],
      },
    })
    await deploy(served(['short', 'long']))
    const session = await start()
    await ask(session, 'fork')
    const child = await onlyChild(stello.client, session)
    expect(await ask(child, 'hello')).toBe('read: hello')
    await deploy(served(['long']))
    expect(await ask(child, 'call look')).toBe('read: look done')
    expect(await ask(session, 'fork')).toMatch(/^read: TOOL_VALIDATION_ERROR: .*profile.*long/s)
    await expect(session.fork({ label: 'mine', profile: 'short' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      hint: 'it has: long',
    })
    await deploy(served([]))
    expect(await ask(child, 'and now?')).toBe('read: and now?')
    expect(await ask(session, 'fork')).toBe('read: TOOL_VALIDATION_ERROR: unknown profile "short". Available: none')
  })

  it('a fork whose profile went before it was opened pauses, and goes on when the profile is back', async () => {
    const { deploy, start } = deployments()
    const served = (named: Parameters<typeof profiles>[0]): TestAgent => ({
      llm: llm(),
      capabilities: { profiles: profiles(named) },
    })
    const worker = await deploy(served({ short: { systemPrompt: 'be short' } }))
    const session = await start()
    await ask(session, 'hello')
    await worker.stop()
    const child = await session.fork({ label: 'mine', profile: 'short' })
    const turn = await child.send('hello')
    await deploy(served({ long: {} }))
    expect((await eventOf(child, 'session.paused')).data).toMatchObject({
      message: 'unknown profile "short". Available: long',
    })
    await deploy(served({ short: {} }))
    await child.resume()
    expect((await turn.result()).text).toBe('read: hello')
  })

  it('a skill that is gone is answered with the skills that exist', async () => {
    const { deploy, start } = deployments()
    const served = (names: string[]): TestAgent => {
      const skills = new SkillRouterImpl()
      for (const name of names) skills.register({ name, description: name, content: `how to: ${name}` })
      return { llm: llm(), capabilities: { skills } }
    }
    await deploy(served(['writing', 'reading']))
    const session = await start()
    expect(await ask(session, 'skill')).toBe('read: how to: writing')
    await deploy(served(['reading']))
    expect(await ask(session, 'skill')).toMatch(/^read: TOOL_VALIDATION_ERROR: .*name.*reading/s)
    await deploy(served([]))
    expect(await ask(session, 'skill')).toMatch('read: TOOL_NOT_FOUND: unknown tool "activate_skill"')
  })

  it('a model that is gone pauses the session with its name, and the same turn goes on when it is back', async () => {
    const fake = await startFakeOpenAI({ script: replyBy([[() => true, 'answered']]) })
    try {
      const { deploy, start } = deployments()
      await deploy({ llm: openai({ model: 'gone-model', baseURL: fake.url }) })
      const session = await start()
      fake.failNext({ status: 404 })
      const turn = await session.send('hello')
      await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({
        code: 'SESSION_PAUSED',
        message: expect.stringContaining('gone-model') as string,
        hint: expect.stringContaining('serves gone-model') as string,
      })
      await deploy({ llm: openai({ model: 'new-model', baseURL: fake.url }) })
      await session.resume()
      expect((await turn.result()).text).toBe('answered')
      expect(fake.requests.map(({ body }) => body.model)).toEqual(['gone-model', 'new-model'])
      expect(await session.transcript()).toHaveLength(2)
    } finally {
      await fake.close()
    }
  })
})

describe('two versions at once', () => {
  it('serve the same session: each message is answered once, a call of a tool of the other version with the tools that exist', async () => {
    const gate = createGate()
    gates.push(gate)
    const name = `versions-${randomBytes(4).toString('hex')}`
    const called: string[] = []
    const version = (own: string, held: () => Promise<void>): TestAgent => ({
      name,
      llm: scriptedModel(async ({ messages, tools }) => {
        const last = messages.at(-1)
        if (last?.role === 'tool') return `read: ${last.content}`
        await held()
        expect(tools.map((spec) => spec.name)).toContain(own)
        return { toolCalls: [{ name: own }] }
      }),
      capabilities: {
        tools: [
          named(own, () => {
            called.push(own)
            return `${own} done`
          }),
        ],
      },
    })
    await stello.work(
      version('look', () => gate.pass()),
      { concurrency: { models: 1 } },
    )
    const newSession = (): Promise<SessionHandle> => stello.client.createSession({ agent: name })
    const held = await Promise.all(Array.from({ length: WORKERS }, newSession))
    const free = await newSession()
    const turns = await Promise.all(held.map((session) => session.send('first')))
    await gate.reached(WORKERS)
    await stello.work(version('find', async () => undefined))
    // All places for models of the old version are taken, so the new version asks for this one.
    const second = await ask(free, 'second')
    gate.open()
    for (let n = 0; n < 8; n++) {
      for (const session of [...held, free]) turns.push(await session.send(`message ${n}`))
    }
    const answers = [second, ...(await Promise.all(turns.map(async (turn) => (await turn.result()).text)))]
    expect(second).toContain('find')
    const notThere = /^read: TOOL_NOT_FOUND: unknown tool "(look|find)"\. Available: stello_create_session, (?!\1)/
    const strange = answers.filter((text) => !/^read: (look|find) done$/.test(text) && !notThere.test(text))
    expect(strange).toEqual([])
    const done = answers.filter((text) => text.endsWith(' done'))
    expect(called).toHaveLength(done.length)
    for (const session of [...held, free]) {
      const asked = (await session.transcript()).filter(({ role }) => role === 'user')
      expect(asked).toHaveLength(9)
      const { totals } = await viewOf(stello.client, session)
      expect(totals).toMatchObject({ turns: 9, modelCalls: 18, toolCalls: 9 })
    }
  })
})
