/** A pause below is reported above: everybody who waits for a session is told what holds it up, at any depth. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agents, subagents } from '../../src/capabilities/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { InboxItem, SessionHandle, SessionTree } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type Rule } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { eventOf, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()

const task = (label: string, message: string) => ({ toolCalls: [{ name: 'new_task', arguments: { label, message } }] })
/** A session that is told `go` awaits a session, and that one awaits a session that is asked `deep`. */
const NESTED: Rule[] = [
  ['go', task('middle', 'further')],
  ['further', task('bottom', 'deep')],
]

/** The session at the end of the chain, when it is there. */
async function lowest(session: SessionHandle, depth: number): Promise<SessionHandle> {
  return until('the lowest session is there', async () => {
    let tree: SessionTree | undefined = await session.tree()
    for (let n = 0; n < depth; n++) tree = tree?.children[0]
    return tree && stello.client.session(tree.id)
  })
}

describe('a pause far below', () => {
  it('is told to everybody who waits above: the session, the reason, and the command that helps', async () => {
    const gate = createGate()
    const llm = scriptedModel(
      replyBy([...NESTED, ['deep', () => gate.pass().then(() => 'found')], [() => true, 'done']]),
    )
    const session = await stello.session({ llm, systemTools: true })
    const turn = await session.send('go')
    await gate.reached()
    const [middle, bottom] = [await lowest(session, 1), await lowest(session, 2)]
    const heard = turn.result({ onPause: 'throw' })
    const told: InboxItem[] = []
    const ended = new AbortController()
    const waiting = turn.result({ onPause: (item) => void told.push(item), signal: ended.signal })
    waiting.catch(() => undefined)
    await bottom.pause('look at it first')
    await expect(heard).rejects.toMatchObject({
      code: 'SESSION_PAUSED',
      message: `session ${session.id} waits for session ${bottom.id}, which is paused (user): look at it first`,
      hint: `\`stello resume ${bottom.id}\` goes on with the same turn`,
    })
    const item = { kind: 'paused', sessionId: bottom.id, label: 'bottom', reason: 'user', message: 'look at it first' }
    expect(await stello.client.inbox(session.id)).toMatchObject([item])
    const tree = await session.tree()
    expect(tree).toMatchObject({ state: 'waiting', heldBy: [item], children: [{ heldBy: [item] }] })
    expect(await middle.state()).toMatchObject({ state: 'waiting', heldBy: [item] })
    expect(await bottom.state()).toMatchObject({ state: 'paused', heldBy: [] })
    await until('the one that waits is told', async () => told.length > 0)

    gate.open()
    await bottom.resume()
    expect((await waiting).text).toBe('done')
    expect(told).toMatchObject([item])
    expect(await session.state()).toMatchObject({ heldBy: [] })
  })

  it.each<[string, Rule[]]>([
    ['Task', [['go', { toolCalls: [{ name: 'Task', arguments: { description: 'bottom', prompt: 'deep' } }] }]]],
    [
      'wait-agent',
      [
        ['go', { toolCalls: [{ name: 'spawn-agent', arguments: { displayName: 'bottom', message: 'deep' } }] }],
        [
          { tool: 'spawn-agent' },
          ({ messages }) => {
            const { agentId } = JSON.parse(messages.at(-1)?.content ?? '') as { agentId: string }
            return { toolCalls: [{ name: 'wait-agent', arguments: { agentIds: [agentId] } }] }
          },
        ],
      ],
    ],
  ])('is told above where %s waits for an agent', async (_, rules) => {
    const gate = createGate()
    const llm = scriptedModel(
      replyBy([...rules, ['deep', () => gate.pass().then(() => 'found')], [() => true, 'done']]),
    )
    const session = await stello.session({ llm, capabilities: { packs: [agents(), subagents()] } })
    const turn = await session.send('go')
    await gate.reached()
    const bottom = await lowest(session, 1)
    const heard = turn.result({ onPause: 'throw' })
    await bottom.pause('look at it first')
    await expect(heard).rejects.toMatchObject({
      code: 'SESSION_PAUSED',
      message: `session ${session.id} waits for session ${bottom.id}, which is paused (user): look at it first`,
    })
    const item = { kind: 'paused', sessionId: bottom.id, label: 'bottom', reason: 'user' }
    expect(await session.state()).toMatchObject({ state: 'waiting', heldBy: [item] })

    gate.open()
    await bottom.resume()
    expect((await turn.result()).text).toBe('done')
    expect(await session.state()).toMatchObject({ heldBy: [] })
  })

  it('of a fork that nobody waits for is told to nobody', async () => {
    const llm = scriptedModel(replyBy([[() => true, 'done']]))
    const session = await stello.session({ llm })
    const fork = await session.fork({ label: 'aside' })
    await fork.pause()
    await eventOf(fork, 'session.paused')
    expect((await (await session.send('hello')).result({ onPause: 'throw' })).text).toBe('done')
    expect(await session.state()).toMatchObject({ heldBy: [] })
  })
})

describe('a question far below', () => {
  it('is told above with the command that answers; after the answer, the turn goes on', async () => {
    const gate = createGate()
    const pay = tool('pay', 'Pays', z.object({}), () => gate.pass().then(() => 'paid'), { onUnknownOutcome: 'ask' })
    const llm = scriptedModel(
      replyBy([...NESTED, ['deep', { toolCalls: [{ name: 'pay', arguments: {} }] }], [() => true, 'done']]),
    )
    const agent = { llm, systemTools: true, capabilities: { tools: [pay] } }
    const first = await stello.work(agent)
    const session = await stello.client.createSession({ agent: first.taskQueue, label: 'main' })
    const turn = await session.send('go')
    await gate.reached()
    await first.stop()
    await stello.work({ ...agent, name: first.taskQueue })
    const bottom = await lowest(session, 2)
    const error: unknown = await turn.result({ onPause: 'throw' }).catch((thrown: unknown) => thrown)
    const [item] = await bottom.pending()
    expect(error).toMatchObject({
      code: 'SESSION_PAUSED',
      message: expect.stringMatching(
        `waits for session ${bottom.id}, which waits for a person: "pay" was begun`,
      ) as string,
      hint: expect.stringContaining(`stello answer ${bottom.id} ${item?.id} done|not_done|retry`) as string,
    })
    expect(await session.state()).toMatchObject({ heldBy: [{ sessionId: bottom.id, kind: 'unknown_outcome' }] })
    await bottom.answer(item?.id ?? '', { decision: 'done' })
    expect((await turn.result()).text).toBe('done')
  })
})
