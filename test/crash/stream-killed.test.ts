/** What people see of an answer whose worker is killed while it streams. */
import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import type { SessionHandle, StelloEvent } from '../../src/client/index.ts'
import { startFakeOpenAI } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess } from '../support/crashing.ts'
import { eventsUntil, useStello } from '../support/session-fixture.ts'
import { callPieces, streamingModel } from '../support/streaming-model.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const attemptOf = ({ data }: StelloEvent): number => Number(fieldOf(data, 'attempt'))
const isCard = ({ data }: StelloEvent): boolean =>
  fieldOf(data, 'status') === 'WAIT' && fieldOf(data, 'params') !== undefined
const ofAnswer = ({ data }: StelloEvent): boolean => fieldOf(data, 'step') === 'm1.0'

/** What one attempt showed: its whole text, and the parameters of its cards. */
function shownBy(events: StelloEvent[], attempt: number): { types: string[]; text: string; params: unknown } {
  const own = events.filter((event) => ofAnswer(event) && attemptOf(event) === attempt)
  const texts = own.filter(({ type }) => type === 'message.delta')
  return {
    types: own.map(({ type }) => type),
    text: texts.map(({ data }) => String(fieldOf(data, 'text'))).join(''),
    params: fieldOf(own.findLast(({ type }) => type === 'tool.status')?.data, 'params'),
  }
}

it('a watcher sees the restarted answer from its beginning, never a mixture of both', async () => {
  const llm = streamingModel([
    { type: 'text', text: 'One ' },
    { type: 'text', text: 'two ' },
    ...callPieces('look', ['{"tag":"the sk', 'y"}']),
  ])
  const fake = await startFakeOpenAI({ model: llm })
  const doors = await startDoors()
  onTestFinished(async () => void (await Promise.all([fake.close(), doors.close()])))
  const agent = `crash-${randomBytes(4).toString('hex')}`
  const settings = { agent, ...stello.servers, modelUrl: fake.url, gateUrl: doors.url }
  const killed = await startWorkerProcess(settings)
  onTestFinished(() => killed.kill())
  const session: SessionHandle = await stello.client.createSession({ agent })
  const seen: StelloEvent[] = []
  const watching = session.watch()[Symbol.asyncIterator]()
  /** Watches until the first event that fits, and returns all events up to that one. */
  const watchUntil = async (fits: (event: StelloEvent) => boolean): Promise<StelloEvent> => {
    for (;;) {
      const { value, done } = await watching.next()
      if (done) throw new Error('the session closed first')
      seen.push(value)
      if (fits(value)) return value
    }
  }
  const turn = await session.send('go')
  for (const gate of llm.gates.slice(0, 2)) gate.open()
  const first = attemptOf(await watchUntil(isCard))
  await killed.kill()

  const worker = await startWorkerProcess(settings)
  onTestFinished(() => worker.kill())
  const second = attemptOf(await watchUntil((event) => isCard(event) && attemptOf(event) > first))
  const newcomer = await eventsUntil(session, isCard, { live: true })
  expect(new Set(newcomer.filter(ofAnswer).map(attemptOf))).toEqual(new Set([second]))
  llm.open()
  expect((await turn.result()).text).toBe('read look done')
  await watchUntil(({ type }) => type === 'turn.completed')

  const attempts = seen.filter(ofAnswer).map(attemptOf)
  expect(attempts).toEqual(attempts.toSorted((a, b) => a - b))
  expect(new Set(attempts)).toEqual(new Set([first, second]))
  for (const attempt of [first, second]) {
    expect(shownBy(seen, attempt)).toMatchObject({ text: 'One two ', params: { tag: 'the sk' } })
    expect(shownBy(seen, attempt).types[0]).toBe('model.started')
  }
  const answers = seen.filter(({ type }) => type === 'message.completed')
  expect(answers.map(({ data }) => fieldOf(data, 'text'))).toEqual(['One two ', 'read look done'])
})
