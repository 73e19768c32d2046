/** `stello mcp` as an MCP client sees it: a process of its own, with messages over stdin and stdout. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtModule } from '../support/built.ts'
import { until } from '../support/until.ts'
import { stello, type Running } from './command.ts'
import { useServed } from './served.ts'

type Answer = Record<string, unknown>

const served = useServed()
const clients: Client[] = []
let client: Client
let worker: Running

async function connect(...args: string[]): Promise<Client> {
  const connected = new Client({ name: 'test', version: '1' })
  const program = [builtModule('src/cli/main.ts'), 'mcp', ...args]
  await connected.connect(new StdioClientTransport({ command: process.execPath, args: program, env: served.env }))
  clients.push(connected)
  return connected
}

async function call(name: string, args: Answer = {}, onprogress?: (message: string) => void): Promise<CallToolResult> {
  const options = onprogress
    ? { onprogress: (told: { message?: string | undefined }) => onprogress(told.message ?? '') }
    : {}
  return (await client.callTool({ name, arguments: args }, undefined, options)) as CallToolResult
}

function textOf({ content: [part] }: CallToolResult): string {
  return part?.type === 'text' ? part.text : ''
}

async function json(name: string, args: Answer = {}): Promise<Answer> {
  const result = await call(name, args)
  if (result.isError) throw new Error(textOf(result))
  return JSON.parse(textOf(result)) as Answer
}

/** Waits as a client does: it asks again as often as it is told to. */
async function wait(turn: Answer): Promise<Answer> {
  for (;;) {
    const waited = await json('wait', { sessionId: turn['sessionId'], messageId: turn['messageId'] })
    if (waited['status'] !== 'running') return waited
  }
}

function look({ sessionId, messageId }: Answer): Promise<Answer> {
  return json('wait', { sessionId, messageId, seconds: 0 })
}

beforeAll(async () => {
  worker = await served.startWorker()
  client = await connect('--agent', served.agent)
})
afterAll(async () => {
  for (const each of clients) await each.close()
})

it('offers the commands as tools, and says which of them change nothing', async () => {
  const { tools } = await client.listTools()
  const words = ['start', 'send', 'wait', 'tree', 'transcript', 'inbox', 'answer', 'resume', 'cancel']
  expect(tools.map(({ name }) => name)).toEqual(words)
  const reads = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)
  expect(reads).toEqual(['wait', 'tree', 'transcript', 'inbox'])
  expect(client.getInstructions()).toContain('wait again')
})

it('starts a job, waits for its answer, and goes on in the same session', async () => {
  const begun = await json('start', { message: 'hello', label: 'talk' })
  expect(await wait(begun)).toEqual({
    status: 'answered',
    ...begun,
    text: 'You said: hello',
    stopReason: 'end_turn',
  })
  const sent = await json('send', { sessionId: begun['sessionId'], message: 'the weather?' })
  expect(await wait(sent)).toMatchObject({ status: 'answered', text: 'Take an umbrella.' })
  const { earlier, messages } = await json('transcript', { sessionId: begun['sessionId'], last: 3 })
  expect(earlier).toBe(3)
  expect(messages).toMatchObject([
    { role: 'assistant', calls: ['weather {"city":"Oslo"}'] },
    { role: 'tool', name: 'weather', content: 'Rain in Oslo.' },
    { role: 'assistant', content: 'Take an umbrella.' },
  ])
  expect(textOf(await call('tree', { sessionId: begun['sessionId'] }))).toMatch(/^[\w-]+ {2}idle +talk$/)
})

it('starts nothing twice when a start is repeated with its own id', async () => {
  const given = { message: 'once', sessionId: `s-once-${served.agent}` }
  const [first, second] = [await json('start', given), await json('start', given)]
  expect(second).toEqual(first)
  await wait(second)
  expect((await json('transcript', { sessionId: first['sessionId'] }))['messages']).toHaveLength(2)
})

it('ends a wait in time: the job goes on, and the client may wait again or cancel it', async () => {
  const begun = await json('start', { message: 'pay the bill' })
  await until('it pays', async () => JSON.stringify((await look(begun))['now']) === '["pay"]')
  expect(await look(begun)).toMatchObject({ status: 'running', state: 'running' })
  await json('cancel', { sessionId: begun['sessionId'] })
  expect(await wait(begun)).toMatchObject({ status: 'answered', stopReason: 'cancelled' })
})

it('tells what happens in the tree while it is waited for', async () => {
  const { sessionId } = await json('start', { message: 'hello' })
  const heard: string[] = []
  // The client may begin to listen too late for the first message.
  await until('progress', async () => {
    const sent = await json('send', { sessionId, message: 'the weather?' })
    await call('wait', sent, (message) => heard.push(message))
    return heard.some((line) => line.includes('weather'))
  })
})

it('says what a person must decide, and passes the decision on', async () => {
  const begun = await json('start', { message: 'pay the bill' })
  const { sessionId } = begun
  await until('it pays', async () => JSON.stringify((await look(begun))['now']) === '["pay"]')
  worker.kill('SIGKILL')
  await worker.ended
  worker = await served.startWorker()
  const held = await wait(begun)
  expect(held).toMatchObject({ status: 'held', waits: [{ kind: 'unknown_outcome', name: 'pay', sessionId }] })
  const { items } = (await json('inbox', { sessionId })) as { items: { id: string }[] }
  const [item] = items
  expect(items).toEqual(held['waits'])
  const refused = await call('answer', { sessionId, id: item?.id, decision: 'retry', text: 'x' })
  expect(refused).toMatchObject({ isError: true })
  await json('answer', { sessionId, id: item?.id, decision: 'done', text: 'paid as 17' })
  await until('it is taken', async () => ((await json('inbox', { sessionId }))['items'] as unknown[]).length === 0)
  expect(await wait(begun)).toMatchObject({ status: 'answered', text: 'You said: paid as 17' })
})

it('lets the client name the agent where the command does not', async () => {
  client = await connect()
  const { agents } = await json('agents')
  expect(agents).toContain(served.agent)
  expect(await wait(await json('start', { agent: served.agent, message: 'hi' }))).toMatchObject({
    text: 'You said: hi',
  })
  expect(await json('start', { agent: 'nobody', message: 'hi' })).toMatchObject({
    note: 'no worker serves "nobody" now: it waits',
  })
})

it('reports errors to the client as the command reports them to people', async () => {
  const result = await call('tree', { sessionId: 's-nowhere' })
  expect(result).toMatchObject({ isError: true })
  expect(textOf(result)).toBe('stello: there is no session "s-nowhere"\n  `stello list` shows all sessions')
})

it('ends when its client is gone', async () => {
  expect(await stello(['mcp'], { env: served.env })).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
})
