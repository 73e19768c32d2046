/** Every file of examples/features, run without a key. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { StelloAgent } from '../../src/agent/agent.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const FOLDER = new URL('../../examples/features/', import.meta.url)
const stello = useStello()

async function sessionOf(file: string): Promise<SessionHandle> {
  const { default: agent } = (await import(new URL(file, FOLDER).href)) as { default: StelloAgent }
  await stello.serve(agent)
  return stello.client.createSession({ agent: agent.name })
}

/** The id of the question that the session asks a person. */
function asked({ id }: SessionHandle): Promise<string> {
  return until('a question', async () => {
    const [item] = await stello.client.inbox(id)
    return item && 'id' in item ? String(item.id) : undefined
  })
}

describe('examples/features', () => {
  it.each([
    ['tool.ts', 'Weather in Oslo?', 'It rains in Oslo.'],
    ['profile-and-fork.ts', 'Check this: 2 + 2 = 5', 'The critic says: 2 + 2 is 4.'],
    ['skills.ts', 'Review: x = 1', 'Line 1: `x` says nothing; call it `width`.'],
    ['mcp.ts', 'What do you know?', 'I know nothing yet.'],
    ['workspace.ts', 'Write a note', 'It is written.'],
    ['child-agents.ts', 'Compare tea and coffee', 'Both are good.'],
    ['fallback-models.ts', 'Hello', 'Hello from the second model.'],
  ])('%s: %j is answered %j', async (file, question, answer) => {
    expect(await ask(await sessionOf(file), question)).toBe(answer)
  })

  it('question.ts goes on with the answer of a person', async () => {
    const session = await sessionOf('question.ts')
    const turn = await session.send('Book a table')
    await session.answer(await asked(session), { decision: 'answer', text: 'Friday' })
    expect((await turn.result()).text).toBe('It is booked for Friday.')
  })

  it('approval.ts runs the call that a person has permitted', async () => {
    const session = await sessionOf('approval.ts')
    const turn = await session.send('Pay bill 17')
    await session.approve(await asked(session))
    expect((await turn.result()).text).toBe('Done: bill 17 is paid.')
  })

  it('memory.ts remembers in one session what was saved in another', async () => {
    const first = await sessionOf('memory.ts')
    expect(await ask(first, 'Remember: I like tea')).toBe('I will remember it.')
    const { agent } = await first.state()
    expect(await ask(await stello.client.createSession({ agent }), 'What do I like?')).toBe('Tea.')
  })

  it('compaction.ts summarises what no longer fits', async () => {
    const session = await sessionOf('compaction.ts')
    for (const _ of [1, 2, 3]) expect(await ask(session, `Long ${'text '.repeat(700)}`)).toBe('I have read it.')
    expect(await ask(session, 'Go on')).toBe('I go on.')
    expect((await session.summary())?.text).toContain('long text')
  })

  it('own-test.ts passes on servers of its own', async () => {
    const { testTheWeather } = await import('../../examples/features/own-test.ts')
    await testTheWeather()
  })

  it('are all run here, none is long, and the list of the docs links to each', () => {
    const files = readdirSync(FOLDER).filter((file) => file !== 'model-or.ts')
    const here = readFileSync(new URL(import.meta.url), 'utf8')
    const list = readFileSync(new URL('../../docs/examples.md', import.meta.url), 'utf8')
    expect(files.filter((file) => !here.includes(file) || !list.includes(`(../examples/features/${file})`))).toEqual([])
    expect(files.filter((file) => readFileSync(new URL(file, FOLDER), 'utf8').split('\n').length > 61)).toEqual([])
  })
})
