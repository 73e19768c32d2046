/**
 * Promise 2: nothing twice, whenever a worker dies. Workers are real processes that get SIGKILL; the provider and the
 * tools' other side live in the test, which sees what was asked how often. `STELLO_CRASH=all` kills at every point.
 */
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess, type Doors, type WorkerProcess } from '../support/crashing.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()
let doors: Doors
let fake: FakeOpenAI
let agent: string
let workers: WorkerProcess[]

beforeEach(async () => {
  workers = []
  agent = `crash-${randomBytes(4).toString('hex')}`
  doors = await startDoors()
  fake = await startFakeOpenAI({
    script: replyBy([
      ['look', { toolCalls: [{ name: 'look' }] }],
      ['pay', { toolCalls: [{ name: 'pay' }] }],
      ['both', { toolCalls: [{ name: 'look' }, { name: 'pay' }] }],
      [({ content }) => content === 'look done', ({ messages }) => `done, having read ${messages.length} messages`],
      [() => true, 'done'],
    ]),
  })
})

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.kill()))
  await Promise.all([doors.close(), fake.close()])
})

async function startOne(): Promise<WorkerProcess> {
  const worker = await startWorkerProcess({ agent, ...stello.servers, modelUrl: fake.url, gateUrl: doors.url })
  workers.push(worker)
  return worker
}

const told = async (session: SessionHandle): Promise<string[]> =>
  (await session.transcript()).map(({ role, content }) => `${role}: ${content}`)

describe('a worker that is killed', () => {
  it('during a model call has only that call repeated by the next', async () => {
    const first = await startOne()
    const session = await stello.client.createSession({ agent })
    const turn = await session.send('look')
    await fake.requested(1)
    const held = fake.hold()
    await fake.requested(2)
    await first.kill()
    await startOne()
    await fake.requested(3)
    held.release()
    expect((await turn.result()).text).toBe('done, having read 3 messages')
    expect(await told(session)).toEqual([
      'user: look',
      'assistant: ',
      'tool: look done',
      'assistant: done, having read 3 messages',
    ])
    expect(fake.requests).toHaveLength(3)
    expect(doors.knocks.map(({ tool }) => tool)).toEqual(['look'])
  })

  it('during a pure tool has the tool run again by the next, and no model call', async () => {
    const first = await startOne()
    const session = await stello.client.createSession({ agent })
    const shut = doors.hold()
    const turn = await session.send('look')
    await doors.knocked(1)
    await first.kill()
    const second = await startOne()
    await doors.knocked(2)
    shut.open()
    expect((await turn.result()).text).toBe('done, having read 3 messages')
    expect(doors.knocks).toMatchObject([
      { tool: 'look', pid: first.pid },
      { tool: 'look', pid: second.pid },
    ])
    expect(fake.requests).toHaveLength(2)
  })

  it('during a tool with an effect never has it run again: its outcome is unknown, and the model reads so', async () => {
    const first = await startOne()
    const session = await stello.client.createSession({ agent })
    doors.hold()
    const turn = await session.send('pay')
    await doors.knocked(1)
    await first.kill()
    await startOne()
    expect((await turn.result()).text).toBe('done')
    expect(doors.knocks).toMatchObject([{ tool: 'pay', pid: first.pid }])
    const result = (await session.transcript())[2]
    expect(result).toMatchObject({
      role: 'tool',
      isError: true,
      content: expect.stringMatching(/^TOOL_OUTCOME_UNKNOWN/) as string,
    })
    expect(fake.requests).toHaveLength(2)
  })

  it('while another serves the same agent is replaced by it at once', async () => {
    const [a, b] = [await startOne(), await startOne()]
    const session = await stello.client.createSession({ agent })
    const shut = doors.hold()
    const turn = await session.send('both')
    await doors.knocked(2)
    const looker = doors.knocks.find(({ tool }) => tool === 'look')?.pid
    const payer = doors.knocks.find(({ tool }) => tool === 'pay')?.pid
    const [victim, survivor] = looker === a.pid ? [a, b] : [b, a]
    await victim.kill()
    await doors.knocked(3)
    shut.open()
    await turn.result()
    expect(doors.knocks[2]).toMatchObject({ tool: 'look', pid: survivor.pid })
    const results = (await session.transcript()).filter(({ role }) => role === 'tool')
    expect(results.map(({ content }) => content.split(':')[0])).toEqual([
      'look done',
      payer === victim.pid ? 'TOOL_OUTCOME_UNKNOWN' : 'pay done',
    ])
    expect(doors.knocks.filter(({ tool }) => tool === 'pay')).toHaveLength(1)
  })
})

describe('messages sent while no worker lives', () => {
  it('are answered once each, in order', async () => {
    const first = await startOne()
    const session = await stello.client.createSession({ agent })
    const held = fake.hold()
    const turns = [await session.send('one')]
    await fake.requested(1)
    await first.kill()
    turns.push(await session.send('two'), await session.send('three'))
    held.release()
    await startOne()
    await Promise.all(turns.map((turn) => turn.result()))
    expect(await told(session)).toEqual(['one', 'two', 'three'].flatMap((text) => [`user: ${text}`, 'assistant: done']))
    expect(fake.requests).toHaveLength(4)
  })
})

const KILLS = process.env['STELLO_CRASH'] === 'all' ? [1, 2, 3, 4, 5, 6] : [3]

describe('a session of six turns', () => {
  it.each(KILLS)('loses and repeats nothing when its worker is killed in the model call of turn %i', async (kill) => {
    const first = await startOne()
    const session = await stello.client.createSession({ agent })
    for (let n = 1; n < kill; n++) await (await session.send(`turn ${n}`)).result()
    const held = fake.hold()
    const turns = []
    for (let n = kill; n <= 6; n++) turns.push(await session.send(`turn ${n}`))
    await fake.requested(kill)
    await first.kill()
    held.release()
    await startOne()
    await Promise.all(turns.map((turn) => turn.result()))
    const asked = (await session.transcript()).filter(({ role }) => role === 'user').map(({ content }) => content)
    expect(asked).toEqual([1, 2, 3, 4, 5, 6].map((n) => `turn ${n}`))
    expect(fake.requests).toHaveLength(7)
  })
})
