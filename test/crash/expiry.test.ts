/**
 * The time for an answer ends while no worker is there: the worker, or Temporal and PostgreSQL, were killed before and
 * come back later. The tool's other side sees how often the tool went on, and with which answer.
 */
import { expect, it } from 'vitest'
import type { InboxQuestion, SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { replyBy } from '../../src/testing/index.ts'
import { useFreshStage } from '../support/crash-stage.ts'
import { startOwnServers, type OwnServers } from '../support/own-servers.ts'
import { eventOf, eventsUntil } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

let servers: OwnServers
const stage = useFreshStage({
  openServers: async () => (servers = await startOwnServers()),
  script: replyBy([
    [
      /^survey/,
      ({ messages }) => ({
        toolCalls: [{ name: 'survey', arguments: { ms: Number(messages[0]?.content.split(' ')[1]) } }],
      }),
    ],
    [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
  ]),
})

interface Asked {
  session: SessionHandle
  turn: TurnHandle
  /** Resolves when the time for an answer is over. */
  over(): Promise<void>
  answers(): string[]
}

async function asked(ms: number): Promise<Asked> {
  stage.door.open()
  const session = await stage.session()
  const turn = await session.send(`survey ${ms}`)
  const item = (await eventOf(session, 'pending.opened')).data as InboxQuestion
  const end = Date.parse(item.expiresAt ?? '')
  return {
    session,
    turn,
    over: async () => void (await until('the end of its time', async () => Date.now() > end + 500)),
    answers: () => stage.doors.knocks.map(({ tag }) => String(tag)),
  }
}

it('is over once when its worker was killed before and another one comes later', async () => {
  const worker = await stage.startWorker()
  const { session, turn, over, answers } = await asked(3000)
  await worker.kill()
  await over()
  expect(await session.pending()).toHaveLength(1)
  await stage.startWorker()
  expect((await turn.result()).text).toBe('read: survey done')
  expect(answers()).toEqual(['right by default'])
  const told = (await eventsUntil(session, ({ type }) => type === 'turn.completed')).map(({ type }) => type)
  expect(told.filter((type) => type.startsWith('pending.'))).toEqual(['pending.opened', 'pending.closed'])
})

it('is over once when the servers were killed before and start later', async () => {
  await stage.startWorker()
  const { session, over, answers } = await asked(6000)
  await servers.kill('temporal', 'postgres')
  await over()
  expect(answers()).toEqual([])
  await servers.start()
  expect((await eventOf(session, 'pending.closed')).data).toMatchObject({ decision: 'answer', by: 'expired' })
  await eventOf(session, 'turn.completed')
  expect(answers()).toEqual(['right by default'])
})
