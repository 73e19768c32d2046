/** A provider refuses a request for good. The session names the record, and there is always a way to go on. */
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SessionHandle } from '../../src/client/index.ts'
import { StelloError } from '../../src/core/errors.ts'
import type { Model } from '../../src/core/model.ts'
import type { Pause } from '../../src/core/pause.ts'
import { modelAt, openai } from '../../src/models/openai/openai.ts'
import { OPENAI } from '../../src/models/openai/openai-providers.ts'
import { startFakeOpenAI, type ChatRules, type FakeOpenAI, type Script } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()
const servers: FakeOpenAI[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function startFake(script: Script, rules?: ChatRules): Promise<FakeOpenAI> {
  const server = await startFakeOpenAI({ script, ...(rules && { rules }) })
  servers.push(server)
  return server
}

/** Refuses every conversation that holds the word. @param says where the word is */
async function refusing(says: (index: number) => string): Promise<Model> {
  const { url } = await startFake(({ messages }) => {
    const index = messages.findIndex(({ content }) => content.includes('poison'))
    if (index !== -1) throw new StelloError('MODEL_REFUSED_REQUEST', says(index))
    const last = messages.at(-1)
    if (last?.role === 'user' && last.content === 'look') return { toolCalls: [{ name: 'look' }] }
    return `to ${last?.content} (${messages.filter(({ role }) => role === 'user').length})`
  })
  return openai({ model: 'm', baseURL: url })
}

const look = tool('look', 'Looks', z.object({}), async () => 'poison')

/** @returns the pause that a message leads to */
async function pausedBy(session: SessionHandle, text: string): Promise<Pause | undefined> {
  const turn = await session.send(text)
  await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
  return (await session.state()).pause
}

async function cancel(session: SessionHandle): Promise<void> {
  await session.cancelTurn()
  await session.resume()
  await until('the session to be idle', async () => (await session.state()).state === 'idle')
}

/** Does what the command in a hint says. */
async function followHint(pause: Pause | undefined): Promise<SessionHandle> {
  const [, id = '', before, label = ''] =
    /stello fork (\S+) --before (\d+) --label "([^"]+)"$/.exec(pause?.hint ?? '') ?? []
  return stello.client.session(id).fork({ before: Number(before), label })
}

describe('a request that is refused for what a record says', () => {
  it('names the record; a fork before it goes on, and so does the session when its turn is cancelled', async () => {
    const llm = await refusing((index) => `Invalid 'messages[${index}].content': poison`)
    const session = await stello.session({ llm, systemPrompt: 'Be kind.', capabilities: { tools: [look] } })
    expect(await ask(session, 'one')).toBe('to one (1)')
    const pause = await pausedBy(session, 'look')
    // The message "one", its answer, the message "look", the call, and its result.
    expect(pause).toMatchObject({
      reason: 'model_error',
      message: expect.stringContaining("400 Invalid 'messages[5].content': poison") as string,
      hint: expect.stringContaining(`it means record 5 of session ${session.id}`) as string,
    })
    await session.resume()
    await until('the session to be paused again', async () => (await session.state()).state === 'paused')
    const fork = await followHint(pause)
    expect(await ask(fork, 'three')).toBe('to three (3)')
    await cancel(session)
    expect(await ask(session, 'two')).toBe('to two (2)')
    expect(await ask(session, 'four')).toBe('to four (3)')
    // People still read what models do not.
    expect((await session.transcript()).map(({ content }) => content)).toContain('poison')
    // The call without its result is left out too.
    expect((await fork.transcript()).map(({ content }) => content)).toEqual([
      'one',
      'to one (1)',
      'look',
      'three',
      'to three (3)',
    ])
  })

  it('is left out in forks that inherit it, too', async () => {
    const llm = await refusing((index) => `messages.${index}: poison`)
    const parent = await stello.session({ llm, capabilities: { tools: [look] } })
    await ask(parent, 'one')
    await pausedBy(parent, 'look')
    await cancel(parent)
    expect(await ask(await parent.fork({ label: 'child', context: 'inherit' }), 'two')).toBe('to two (2)')
  })

  it('stays left out for another worker, and when the workflow is started anew', async () => {
    const llm = await refusing((index) => `messages.${index}: poison`)
    const agent = { name: 'left-out', llm, capabilities: { tools: [look] } }
    const first = await stello.work(agent)
    const session = await stello.client.createSession({ agent: agent.name, label: 'main' })
    await ask(session, 'one')
    await pausedBy(session, 'look')
    await cancel(session)
    await first.stop()
    await stello.work(agent)
    expect(await ask(session, 'two')).toBe('to two (2)')
    await stello.client.temporal.workflow.getHandle(session.id).terminate('by an operator')
    await session.recover()
    expect(await ask(session, 'three')).toBe('to three (3)')
  })

  it('of an older record keeps the turns that are not to blame, and names the fork that goes on', async () => {
    let poisonous = false
    const { url } = await startFake(({ messages }) => {
      const index = messages.findIndex(({ content }) => content === 'old')
      if (poisonous && index !== -1) throw new StelloError('MODEL_REFUSED_REQUEST', `messages.${index}: old`)
      return 'fine'
    })
    const session = await stello.session({ llm: openai({ model: 'm', baseURL: url }) })
    await ask(session, 'zero')
    await ask(session, 'old')
    poisonous = true
    const pause = await pausedBy(session, 'new')
    expect(pause?.hint).toContain(`it means record 3 of session ${session.id}`)
    expect(pause?.hint).not.toContain('cancel the turn')
    expect(await ask(await followHint(pause), 'new')).toBe('fine')
  })

  it('that names no record points before the turn that caused it', async () => {
    const llm = await refusing(() => 'Invalid request')
    const session = await stello.session({ llm })
    await ask(session, 'one')
    const pause = await pausedBy(session, 'poison')
    expect(pause?.hint).toContain('it does not say which record it means')
    expect(await ask(await followHint(pause), 'two')).toBe('to two (2)')
  })

  it('cannot be forked before a record that does not exist', async () => {
    const session = await stello.session({ llm: await refusing(() => '') })
    await ask(session, 'one')
    await expect(session.fork({ label: 'x', before: 4 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: `fork: before: session ${session.id} has 2 records of its own`,
    })
    await expect(session.fork({ label: 'x', before: 0 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    const empty = await session.fork({ label: 'empty', before: 1 })
    expect(await empty.transcript()).toEqual([])
    expect(await ask(await session.fork({ label: 'all', before: 3 }), 'two')).toBe('to two (2)')
  })
})

describe.each(['openai', 'deepseek', 'google', 'mistral'] as const)(
  'a model at %s that invents names and ids',
  (rules) => {
    it('reads what it wrote, and its session goes on', async () => {
      const invented = [
        { name: 'functions.look', id: 'functions.look:0' },
        { name: '', id: '' },
        { name: 'a b', id: 'x'.repeat(90), arguments: '[1]' },
        { name: 'look', id: 'x'.repeat(90), arguments: '{"n":' },
      ]
      const fake = await startFake(({ messages }) => {
        const last = messages.at(-1)
        if (last?.content === 'go') return { toolCalls: invented }
        return messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])).join('\n') || 'nothing'
      }, rules)
      const llm = modelAt({ ...OPENAI, name: rules }, { model: 'm', baseURL: fake.url, apiKey: 'k' })
      const session = await stello.session({ llm, capabilities: { tools: [look] } })
      const read = await ask(session, 'go')
      expect(read).toMatch(/^TOOL_NOT_FOUND: unknown tool "functions\.look"\. Available: .*look/)
      expect(read).toMatch(/TOOL_NOT_FOUND: unknown tool ""/)
      expect(read).toMatch(/TOOL_NOT_FOUND: unknown tool "a b"/)
      expect(read).toMatch(/TOOL_VALIDATION_ERROR/)
      expect(await ask(session, 'and now?')).toBe(read)
      expect((await session.state()).state).toBe('idle')
    })
  },
)
