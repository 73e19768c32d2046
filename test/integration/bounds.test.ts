/** Attacks on the cost of a tree: models that fork without end, and models that fork many sessions at once. */
import { expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import type { SessionTree } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type Rule } from '../../src/testing/index.ts'
import { profiles } from '../support/forks.ts'
import { ask, useStello } from '../support/session-fixture.ts'

const stello = useStello()

const task = (label: string, more: object = {}) => ({
  name: 'new_task',
  arguments: { label, message: 'go', ...more },
})

/** A model that answers every message by opening that many tasks, each of which does the same. */
const growing = (tasks: number): Rule[] => [
  [{ tool: 'new_task' }, 'done'],
  [() => true, { toolCalls: Array.from({ length: tasks }, (_, n) => task(`${n}`)) }],
]

const below = (tree: SessionTree): SessionTree[] => [tree, ...tree.children.flatMap(below)]

function refusals(llm: { calls: { messages: Message[] }[] }): string[] {
  const results = llm.calls.flatMap(({ messages }) => messages.filter(({ role }) => role === 'tool'))
  return [...new Set(results.map(({ content }) => content).filter((content) => content.startsWith('TREE_LIMIT')))]
}

it('a chain of sixty forks ends at the fifth level, and the model there reads why', async () => {
  const llm = scriptedModel(replyBy(growing(1)))
  const session = await stello.session({ llm, systemTools: true })
  expect(await ask(session, 'go')).toBe('done')
  const depths = below(await session.tree()).map(({ depth }) => depth)
  expect(depths.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5])
  expect(refusals(llm)).toEqual([
    expect.stringMatching(/is 5 levels below its root already \(maxDepth: 5\).*stello bounds .* --max-depth N/),
  ])
})

it('one message that leads to 385 forks makes as many sessions as the tree may have, and the models read why', async () => {
  const llm = scriptedModel(replyBy(growing(7)))
  const session = await stello.session({ llm, systemTools: true, maxChildren: 6, maxSessions: 15 })
  expect(await ask(session, 'go')).toBe('done')
  const sessions = below(await session.tree())
  expect(sessions).toHaveLength(15)
  expect(Math.max(...sessions.map(({ children }) => children.length))).toBe(6)
  expect(refusals(llm)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/has opened 6 sessions already \(maxChildren: 6\)/),
      expect.stringMatching(/has 15 sessions already, closed ones included \(maxSessions: 15\)/),
    ]),
  )
  expect(await session.bounds()).toEqual({
    rootId: session.id,
    sessions: 15,
    bounds: { maxDepth: 5, maxChildren: 6, maxSessions: 15 },
  })
})

it('a fork that is refused has no effect: the code of its profile is not called, and no hook', async () => {
  const called: string[] = []
  const contextFn = async (records: Message[]): Promise<Message[]> => (called.push('contextFn'), records)
  const llm = scriptedModel(
    replyBy([
      ['fork', { toolCalls: [task('a', { profile: 'p' })] }],
      [() => true, 'said'],
    ]),
  )
  const session = await stello.session({
    llm,
    systemTools: true,
    maxDepth: 0,
    capabilities: { profiles: profiles({ p: { contextFn } }) },
    onSessionFork: () => void called.push('onSessionFork'),
  })
  expect(await ask(session, 'fork')).toBe('said')
  expect(called).toEqual([])
  expect(refusals(llm)).toHaveLength(1)
})

it('forks of clients are bounded like those of models, by the bounds that the creator of the tree has set', async () => {
  const { taskQueue } = await stello.work({ llm: scriptedModel(() => 'said'), maxChildren: 1 })
  const session = await stello.client.createSession({ agent: taskQueue, bounds: { maxChildren: 3 } })
  expect(await ask(session, 'hello')).toBe('said')
  const forks = Array.from({ length: 8 }, (_, n) => session.fork({ label: 'fork', sessionId: `${session.id}-${n}` }))
  const opened = (await Promise.allSettled(forks)).filter(({ status }) => status === 'fulfilled')
  expect(opened).toHaveLength(3)
  await expect(session.fork({ label: 'one more' })).rejects.toMatchObject({
    code: 'TREE_LIMIT',
    message: expect.stringContaining('(maxChildren: 3)') as string,
  })
  expect((await session.bounds({ maxChildren: 4 })).bounds.maxChildren).toBe(4)
  expect(await ask(await session.fork({ label: 'one more' }), 'hello')).toBe('said')
  await expect(session.fork({ label: 'and another' })).rejects.toMatchObject({ code: 'TREE_LIMIT' })
})

it.each([
  [{ maxDepth: -1 }, 'maxDepth: -1'],
  [{ maxSessions: 0 }, 'maxSessions: 0'],
  [{ maxChildren: 1.5 }, 'maxChildren: 1.5'],
])('bounds of %o are refused before anything is stored', async (bounds, named) => {
  const agent = 'never-served'
  const invalid = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(named) as string }
  await expect(stello.client.createSession({ agent, bounds })).rejects.toMatchObject(invalid)
  const session = await stello.client.createSession({ agent })
  await expect(session.bounds(bounds)).rejects.toMatchObject(invalid)
  expect((await session.bounds()).bounds).toEqual({})
})
