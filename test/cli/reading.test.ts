/** The commands that read what was said, with a worker process. */
import { beforeAll, expect, it } from 'vitest'
import { stello, stelloJson } from './command.ts'
import { useServed } from './served.ts'

const served = useServed()
const run = (...args: string[]): ReturnType<typeof stello> => stello(args, { env: served.env })
const json = (...args: string[]): Promise<Record<string, unknown>[]> => stelloJson(args, { env: served.env })
let id = ''

beforeAll(async () => {
  await served.startWorker()
  const session = await served.client.createSession({ agent: served.agent, label: 'trip' })
  await (await session.send('weather?')).result()
  id = session.id
})

it('a transcript begins at the place that was asked for', async () => {
  expect(await json('transcript', id, '--from', '-1')).toMatchObject([
    { seq: 4, at: expect.any(String), message: { content: 'Take an umbrella.' } },
  ])
})

it('a conversation is found by its words', async () => {
  expect(await json('search', 'umbrella', '--session', id)).toMatchObject([
    {
      sessionId: id,
      label: 'trip',
      seq: 4,
      role: 'assistant',
      snippet: [{ hit: false }, { text: 'umbrella', hit: true }],
    },
  ])
  expect((await run('search', '"take an umbrella"')).stdout).toContain(`${id} 4 assistant`)
  expect(await run('search', '--', '-umbrella')).toMatchObject({ code: 0, stdout: '', stderr: 'nothing is found\n' })
})

it('the time line shows which worker ran what, and when', async () => {
  expect((await json('timeline', id)).map(({ kind, outcome }) => [kind, outcome])).toEqual([
    ['model', 'succeeded'],
    ['tool', 'succeeded'],
    ['model', 'succeeded'],
  ])
  expect((await run('timeline', id)).stdout).toMatch(/ tool  .*succeeded worker \d+/)
})
