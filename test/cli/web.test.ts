/** `stello web` as a process, and the examples of docs/http.md, which are run against it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { start, stello, type Running } from './command.ts'
import { useServed } from './served.ts'

const served = useServed()
const run = promisify(execFile)

beforeAll(async () => {
  await served.startWorker()
})

async function startWeb(options: string[] = [], env: Record<string, string> = {}): Promise<Running & { url: string }> {
  const command = start(['web', '--json', ...options], { env: { ...served.env, ...env } })
  const { url, ready } = await command.line()
  expect(ready).toBe(true)
  return Object.assign(command, { url: String(url) })
}

it('prints the address, serves page and routes there, and ends with 0 at Ctrl-C while a stream is open', async () => {
  const web = start(['web'], { env: served.env })
  const printed = await web.printed('Ctrl-C stops')
  const [, page = ''] = /^page +(http:\/\/127\.0\.0\.1:\d+\/)$/m.exec(printed) ?? []
  expect(await (await fetch(`${page}api/agents`)).json()).toContainEqual({
    name: served.agent,
    served: true,
    profiles: ['short'],
  })
  const { id } = await served.client.createSession({ agent: served.agent })
  const stream = await fetch(`${page}api/sessions/${id}/events`)
  web.kill('SIGINT')
  expect(await stream.text()).toContain('event: begin')
  expect((await web.ended).code).toBe(0)
})

it('with a token prints it after the # of the address, and refuses everybody without it', async () => {
  const web = await startWeb(['--token-from', 'MY_TOKEN'], { MY_TOKEN: 'a+b/c' })
  expect(await web.line()).toMatchObject({ page: `${web.url}/#token=a%2Bb%2Fc` })
  expect((await fetch(`${web.url}/api/agents`)).status).toBe(401)
  const headers = { authorization: 'Bearer a+b/c' }
  expect((await fetch(`${web.url}/api/agents`, { headers })).status).toBe(200)
  web.kill('SIGTERM')
  expect((await web.ended).code).toBe(0)
})

it('takes the port that it is given, and says so when that port is taken', async () => {
  const web = await startWeb()
  const { port } = new URL(web.url)
  const { code, stderr } = await stello(['web', '--page-port', port], { env: served.env })
  expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port}`))])
  web.kill('SIGINT')
  await web.ended
  const again = await startWeb(['--page-port', port])
  expect(again.url).toBe(web.url)
  again.kill('SIGINT')
  await again.ended
})

it.each([
  [['--host', '0.0.0.0'], 1, /they need a token\n.*--token-from/],
  [['--token', ''], 1, /the token is empty/],
  [['--token-from', 'NO_SUCH_VARIABLE'], 1, /NO_SUCH_VARIABLE.* is not set/],
  [['--token', 'a', '--token-from', 'HOME'], 2, /both name the token/],
  [['--page-port', 'many'], 2, /must be a port/],
])('refuses %j', async (options, code, told) => {
  expect(await stello(['web', ...options], { env: served.env })).toMatchObject({
    code,
    stderr: expect.stringMatching(told),
  })
})

it('the examples of docs/http.md do what they say', async () => {
  const web = await startWeb()
  const document = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8')
  const [, script = ''] = /## A conversation with curl\n.*?```sh\n(.*?)```/s.exec(document) ?? []
  const examples = script.replaceAll('"changes"', JSON.stringify(served.agent)).replaceAll(/\ncurl/g, '\necho\ncurl')
  const { stdout } = await run('sh', ['-euc', examples], { env: { ...process.env, STELLO: web.url } })
  const [agents, created, taken, turn, records, events, closed, ...stream] = stdout.split('\n')
  expect(JSON.parse(agents ?? '')).toContainEqual({ name: served.agent, served: true, profiles: ['short'] })
  expect([created, taken].map((line) => JSON.parse(line ?? '') as unknown)).toEqual([
    { id: 'lunch' },
    { messageId: 'q1' },
  ])
  expect(JSON.parse(turn ?? '')).toMatchObject({ text: 'You said: What is for lunch?' })
  expect(JSON.parse(records ?? '')).toMatchObject({ total: 2, records: [{ seq: 1 }, { seq: 2 }] })
  expect(JSON.parse(events ?? '')).toMatchObject({ events: [{ type: 'turn.started' }, {}, { type: 'turn.completed' }] })
  expect(JSON.parse(closed ?? '')).toEqual({})
  expect(stream.filter((line) => line.startsWith('event: '))).toEqual(
    ['begin', 'turn.started', 'message.completed', 'turn.completed', 'session.closed', 'end'].map(
      (one) => `event: ${one}`,
    ),
  )
  web.kill('SIGINT')
  await web.ended
})
