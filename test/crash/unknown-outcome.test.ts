/**
 * A worker dies in the middle of a tool that must not be repeated. The tool finds out what happened, or a person says
 * so. Workers are real processes that get SIGKILL, and the tools' other side sees how often each tool ran.
 */
import { describe, expect, it } from 'vitest'
import type { InboxQuestion, SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { replyBy } from '../../src/testing/index.ts'
import { useFreshStage } from '../support/crash-stage.ts'
import { eventsUntil } from '../support/session-fixture.ts'

const stage = useFreshStage({
  script: replyBy([
    ['wire', { toolCalls: [{ name: 'wire' }] }],
    ['post', { toolCalls: [{ name: 'post' }] }],
    [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
  ]),
})

/** A turn whose tool was begun by a worker that is dead now. */
async function begun(tool: 'wire' | 'post'): Promise<{ session: SessionHandle; turn: TurnHandle }> {
  const first = await stage.startWorker()
  const session = await stage.session()
  const turn = await session.send(tool)
  await stage.doors.knocked(1)
  await first.kill()
  return { session, turn }
}

/** The `n`th question of a session. */
async function question(session: SessionHandle, n = 1): Promise<InboxQuestion> {
  let questions = 0
  await eventsUntil(session, ({ type }) => type === 'pending.opened' && ++questions === n)
  const [item, ...more] = await session.pending()
  expect(more).toEqual([])
  return item as InboxQuestion
}

const knocks = (): string[] => stage.doors.knocks.map(({ tool }) => tool)
const text = async (turn: TurnHandle): Promise<string> => (await turn.result()).text

describe('a tool that can verify', () => {
  it('gives the result of what happened before the crash, and does not run again', async () => {
    const { turn } = await begun('post')
    stage.doors.say('verify', JSON.stringify({ happened: true, result: 'posted as 17' }))
    await stage.startWorker()
    expect(await text(turn)).toBe('read: posted as 17')
    expect(knocks()).toEqual(['post', 'verify'])
  })

  it('runs once when nothing had happened', async () => {
    const { turn } = await begun('post')
    stage.doors.say('verify', JSON.stringify({ happened: false }))
    stage.doors.say('post', 'posted now')
    await stage.startWorker()
    expect(await text(turn)).toBe('read: posted now')
    expect(knocks()).toEqual(['post', 'verify', 'post'])
  })

  it.each([
    ['cannot tell', 'null and void'],
    ['answers in a shape nobody knows', JSON.stringify({ happened: 'perhaps' })],
  ])('does not run again when it %s: the model reads that the outcome is unknown', async (_how, said) => {
    const { turn } = await begun('post')
    stage.doors.say('verify', said)
    await stage.startWorker()
    expect(await text(turn)).toMatch(/^read: TOOL_OUTCOME_UNKNOWN/)
    expect(knocks()).toEqual(['post', 'verify'])
  })

  it('is asked once more when its worker dies while it verifies, and does not run', async () => {
    const { turn } = await begun('post')
    const second = await stage.startWorker()
    await stage.doors.knocked(2)
    await second.kill()
    stage.doors.say('verify', JSON.stringify({ happened: true, result: 'posted' }))
    await stage.startWorker()
    expect(await text(turn)).toBe('read: posted')
    expect(knocks()).toEqual(['post', 'verify', 'verify'])
  })

  it('tells what happened to a call that was cancelled while its worker was dead', async () => {
    const { session, turn } = await begun('post')
    await session.cancelTurn()
    stage.doors.say('verify', JSON.stringify({ happened: true, result: 'posted all the same' }))
    await stage.startWorker()
    expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
    expect((await session.transcript()).at(-1)).toMatchObject({ role: 'tool', content: 'posted all the same' })
    expect(knocks()).toEqual(['post', 'verify'])
  })
})

describe('a tool that has a person asked', () => {
  it('waits while worker after worker dies, and during a pause, until the person says that it was done', async () => {
    const { session, turn } = await begun('wire')
    const second = await stage.startWorker()
    const item = await question(session)
    expect(item).toMatchObject({ kind: 'unknown_outcome', name: 'wire', sessionId: session.id, agent: stage.agent })
    expect(await session.state()).toMatchObject({ state: 'waiting', inHand: [] })
    await second.kill()
    await session.pause('lunch')
    await session.answer(item.id, { decision: 'done', text: 'wired 3' })
    await stage.startWorker()
    await eventsUntil(session, ({ type }) => type === 'pending.closed')
    await session.resume()
    expect(await text(turn)).toBe('read: wired 3')
    expect(knocks()).toEqual(['wire'])
    expect(stage.fake.requests).toHaveLength(2)
    const told = (await eventsUntil(session, ({ type }) => type === 'turn.completed')).map(({ type }) => type)
    expect(told.filter((type) => type.startsWith('pending.'))).toEqual(['pending.opened', 'pending.closed'])
  })

  it('does not run again when the person says that it was not done', async () => {
    const { session, turn } = await begun('wire')
    await stage.startWorker()
    await session.answer((await question(session)).id, { decision: 'not_done' })
    expect(await text(turn)).toMatch(/^read: TOOL_EXECUTION_ERROR: "wire" did not take effect/)
    expect(knocks()).toEqual(['wire'])
  })

  it('runs again only when the person says so, and asks again when its worker dies again', async () => {
    const { session, turn } = await begun('wire')
    const second = await stage.startWorker()
    const first = await question(session)
    await session.answer(first.id, { decision: 'retry' })
    await stage.doors.knocked(2)
    await second.kill()
    await stage.startWorker()
    const again = await question(session, 2)
    expect(again.id).not.toBe(first.id)
    await expect(session.answer(first.id, { decision: 'retry' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(knocks()).toEqual(['wire', 'wire'])
    stage.door.open()
    await session.answer(again.id, { decision: 'retry' })
    expect(await text(turn)).toBe('read: wire done')
    expect(knocks()).toEqual(['wire', 'wire', 'wire'])
  })
})
