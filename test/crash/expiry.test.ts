/**
 * The time for an answer ends while no worker is there: the worker, or Temporal and PostgreSQL, were killed before and
 * come back later. The tool's other side sees how often the tool went on, and with which answer.
 */
import { describe, expect, it } from 'vitest'
import type { SessionHandle, StelloEvent, TurnHandle } from '../../src/client/index.ts'
import { replyBy } from '../../src/testing/index.ts'
import { useFreshStage } from '../support/crash-stage.ts'
import { startOwnServers, type OwnServers } from '../support/own-servers.ts'
import { ask, eventOf, eventsUntil } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'
import { badServer } from '../unit/capabilities/mcp/mcp-fixture.ts'

/** A call that needs a permission, one that wants a confirmation, and one of an MCP server that asks for a form. */
const ROUND = ['pay', 'wipe', 'mcp__forms__ask']
/** So long that the kill comes before the end, on a busy machine too. */
const FOR_ANSWERS_MS = 8_000

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
    ['round', { toolCalls: ROUND.map((name) => ({ name })) }],
    [{ tool: 'wipe' }, ({ messages }) => messages.slice(-ROUND.length).map(toText).join('; ')],
    [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
  ]),
})

const toText = ({ content }: { content: string }): string => content

interface Asked {
  session: SessionHandle
  turn: TurnHandle
  /** Resolves when the time for an answer is over. */
  over(): Promise<void>
  answers(): string[]
}

/** @param questions how many the message leads to */
async function asked(text: string, questions = 1): Promise<Asked> {
  stage.door.open()
  const session = await stage.session()
  const turn = await session.send(text)
  let left = questions
  const events = await eventsUntil(session, ({ type }) => type === 'pending.opened' && --left === 0)
  const ends = events.map((event) => (event.type === 'pending.opened' ? Date.parse(event.data.expiresAt ?? '') : 0))
  return {
    session,
    turn,
    over: async () => void (await until('the end of its time', async () => Date.now() > Math.max(...ends) + 500)),
    answers: () => stage.doors.knocks.map(({ tag }) => String(tag)),
  }
}

it('is over once when its worker was killed before and another one comes later', async () => {
  const worker = await stage.startWorker()
  const { session, turn, over, answers } = await asked(`survey ${FOR_ANSWERS_MS}`)
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
  const { session, over, answers } = await asked(`survey ${FOR_ANSWERS_MS}`)
  await servers.kill('temporal', 'postgres')
  await over()
  expect(answers()).toEqual([])
  await servers.start()
  expect((await eventOf(session, 'pending.closed')).data).toMatchObject({ decision: 'answer', by: 'expired' })
  await eventOf(session, 'turn.completed')
  expect(answers()).toEqual(['right by default'])
})

const DENIED = 'TOOL_PERMISSION_DENIED: nobody has said in time whether "pay" may run; it was not run'

describe.each([
  { byDefault: 'deny', ran: [], heard: 'decline', read: `${DENIED}; not wiped; decline` },
  { byDefault: 'approve', ran: ['pay', 'wipe'], heard: 'accept', read: 'pay done; wipe done; accept' },
] as const)('a permission, a confirmation and a form: $byDefault by default', ({ byDefault, ran, heard, read }) => {
  /** A worker, and a round whose calls all wait. */
  async function waiting() {
    const bad = badServer()
    const expiresIn = FOR_ANSWERS_MS
    const questions = { expiresIn, ...(byDefault === 'approve' && { default: { name: 'Ada' } }) }
    const server = { ...bad.server, per: 'session', questions, tools: { ask: { kind: 'readonly' } } } as const
    const settings = { permissions: { expiresIn, default: byDefault }, mcp: { forms: server } }
    const worker = await stage.startWorker(settings)
    const round = await asked('round', ROUND.length)
    // The attempt that asks is cancelled. The server hears the end of the wait in the attempt behind it.
    const forms = (): string[] => bad.journal().filter((line) => /^heard (?!cancel)/.test(line))
    return { ...round, worker, settings, forms }
  }

  /** Each of the three has ended once and as stated, and the session goes on. */
  async function expectOver({ session, forms }: Awaited<ReturnType<typeof waiting>>): Promise<void> {
    const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
    expect(events.at(-1)).toMatchObject({ data: { text: read } })
    expect(events.flatMap(closed).toSorted()).toEqual(ROUND.map((name) => `${name} by expired`).toSorted())
    expect(events.flatMap(decided)).toEqual(['ask by mode', `${ran.length > 0 ? 'allow' : 'deny'} by expired`])
    expect(stage.doors.knocks.map(({ tool }) => tool).toSorted()).toEqual(ran)
    expect(forms()).toEqual([`heard ${heard}`])
    expect(await session.pending()).toEqual([])
    expect(await ask(session, 'hello')).toBe('read: hello')
  }

  it('are over once when the worker was killed before and another one comes later', async () => {
    const round = await waiting()
    await round.worker.kill()
    await round.over()
    expect(await round.session.pending()).toHaveLength(ROUND.length)
    await stage.startWorker(round.settings)
    await expectOver(round)
  })

  it('are over once when the servers were killed before and start later', async () => {
    const round = await waiting()
    await servers.kill('temporal', 'postgres')
    await round.over()
    expect([stage.doors.knocks, round.forms()]).toEqual([[], []])
    await servers.start()
    await expectOver(round)
  })
})

function closed(event: StelloEvent): string[] {
  return event.type === 'pending.closed' ? [`${event.data.name} by ${event.data.by}`] : []
}

/** Only the call that needs a permission is decided about with people. */
function decided(event: StelloEvent): string[] {
  const asks = event.type === 'permission.decided' && event.data.name === 'pay'
  return asks ? [`${event.data.decision} by ${event.data.by}`] : []
}
