/**
 * A call that needs permission, in a real session: approved, approved with other arguments, denied, and answered with
 * nonsense.
 */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { InboxQuestion, SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { approveSignal, approveUpdate, denySignal } from '../../src/protocol/temporal-messages.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const workflow = ({ id }: SessionHandle) => stello.client.temporal.workflow.getHandle(id)

interface Waiting {
  session: SessionHandle
  turn: TurnHandle
  item: InboxQuestion
  removed: string[]
}

async function waiting(): Promise<Waiting> {
  const removed: string[] = []
  const remove = tool('remove', 'Removes', z.object({ path: z.string() }), ({ path }) => {
    removed.push(path)
    return `removed ${path.length > 100 ? 'a long one' : path}`
  })
  const worker = await stello.work({
    llm: scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'remove', arguments: { path: 'a.txt' } }] }],
        [({ role }) => role === 'tool', ({ messages }) => `read: ${messages.at(-1)?.content}`],
      ]),
    ),
    permissions: {},
    capabilities: { tools: [remove] },
  })
  const session = await stello.client.createSession({ agent: worker.taskQueue, label: 'files' })
  const turn = await session.send('go')
  await eventOf(session, 'pending.opened')
  const [item] = await session.pending()
  return { session, turn, item: item as InboxQuestion, removed }
}

async function rejections(session: SessionHandle, n: number): Promise<void> {
  let refused = 0
  await eventsUntil(session, ({ type }) => type === 'answer.rejected' && ++refused === n)
}

const text = async (turn: TurnHandle): Promise<string> => (await turn.result()).text

describe('a call that needs permission', () => {
  it('runs with the arguments of the person who approves it, short and long ones', async () => {
    for (const path of ['b.txt', 'x'.repeat(20_000)]) {
      const { session, turn, item, removed } = await waiting()
      await session.approve(item.id, { args: { path } })
      await turn.result()
      expect(removed).toEqual([path])
    }
  })

  it('does not run when it is denied; the model reads why', async () => {
    const { session, turn, item, removed } = await waiting()
    await session.deny(item.id, 'not on a Friday')
    expect(await text(turn)).toContain('a person did not permit "remove": not on a Friday')
    expect(removed).toEqual([])
  })

  it('is approved and denied in the Temporal UI by its id alone', async () => {
    const approved = await waiting()
    await workflow(approved.session).signal(approveSignal, approved.item.id)
    expect(await text(approved.turn)).toBe('read: removed a.txt')
    const updated = await waiting()
    await workflow(updated.session).executeUpdate(approveUpdate, { args: [{ id: updated.item.id }] })
    expect(await text(updated.turn)).toBe('read: removed a.txt')
    const denied = await waiting()
    await workflow(denied.session).signal(denySignal, { id: denied.item.id, text: 'no' })
    expect(await text(denied.turn)).toContain('did not permit "remove": no')
  })

  it('is answered once: a second answer, an answer after a cancel and nonsense are refused and change nothing', async () => {
    const { session, turn, item, removed } = await waiting()
    await workflow(session).signal(approveSignal, { id: item.id, args: { path: 7 } } as never)
    await workflow(session).signal(approveSignal, 42 as never)
    await rejections(session, 2)
    await session.approve(item.id)
    await turn.result()
    await workflow(session).signal(denySignal, item.id)
    await rejections(session, 3)
    expect(removed).toEqual(['a.txt'])
    const cancelled = await waiting()
    await cancelled.session.cancelTurn()
    await cancelled.turn.result()
    await expect(cancelled.session.approve(cancelled.item.id)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(cancelled.removed).toEqual([])
  })
})
