/**
 * A turn whose model is asked over HTTP and SSE, compared with its parts: the same turn with the model in this process,
 * and a bare loop that sends the same requests to the same server. The three are measured alternately, once with an
 * empty transcript and once with a long one.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { openai } from '../src/index.ts'
import { emptyAgent, NAMES } from './agent.ts'
import { median, type Values } from './figures.ts'
import { timed } from './turns.ts'
import { newName, type World } from './world.ts'

/** `BENCH_TURNS`: fewer turns, to try out whether the measurement works. */
const TURNS = Number(process.env['BENCH_TURNS'] ?? 60)
const WARM_UP = Math.ceil(TURNS / 5)
const LONG = { messages: 16, characters: 64 * 1024 }

interface Times {
  http: number
  inProcess: number
  bare: number
}

type Turn = (text: string) => Promise<unknown>

export async function measureHttpTurns(world: World): Promise<Values<'http'>> {
  const provider = fork(fileURLToPath(new URL('./http-model.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] })
  const [baseURL] = (await once(provider, 'message')) as [string]
  const [name, overHttp] = [newName('bench'), newName('bench-http')]
  const workers = await Promise.all([
    world.work(emptyAgent(name)),
    world.work(emptyAgent(overHttp, 'ok', openai({ model: 'empty', baseURL }))),
  ])
  const open = async (agent: string): Promise<Turn> => {
    const session = await world.stello.createSession({ agent, label: 'bench' })
    return async (text) => (await session.send(text)).result()
  }
  const parts = async (): Promise<Turn[]> => [await open(overHttp), await open(name), bareTurn(baseURL)]
  try {
    const short = await alternately(await parts(), world.say)
    const long = await parts()
    for (const turn of long) for (let n = 0; n < LONG.messages; n++) await turn('x'.repeat(LONG.characters))
    const withLong = await alternately(long, world.say)
    return {
      turn_http_ms: short.http,
      turn_in_process_ms: short.inProcess,
      turn_bare_http_ms: short.bare,
      turn_http_over_parts: short.http / (short.inProcess + short.bare),
      turn_http_1mb_ms: withLong.http,
      turn_in_process_1mb_ms: withLong.inProcess,
      turn_bare_http_1mb_ms: withLong.bare,
      turn_http_1mb_over_parts: withLong.http / (withLong.inProcess + withLong.bare),
    }
  } finally {
    provider.disconnect()
    await Promise.all(workers.map((worker) => worker.stop()))
  }
}

async function alternately(turns: readonly Turn[], say: World['say']): Promise<Times> {
  const times = turns.map((): number[] => [])
  for (let n = 0; n < WARM_UP + TURNS; n++) {
    if (n % 20 === 0) say(`turns over HTTP and their parts: ${n} of ${WARM_UP + TURNS}`)
    for (const [i, turn] of turns.entries()) {
      const ms = await timed(() => turn('go'))
      if (n >= WARM_UP) times[i]?.push(ms)
    }
  }
  const [http = NaN, inProcess = NaN, bare = NaN] = times.map(median)
  return { http, inProcess, bare }
}

/** The requests of a turn and nothing else: fetch, the events of the answer, and the transcript in memory. */
function bareTurn(baseURL: string): Turn {
  const messages: object[] = [{ role: 'system', content: 'You are measured.' }]
  const tools = NAMES.map((name) => {
    return { type: 'function', function: { name, description: name, parameters: { type: 'object', properties: {} } } }
  })
  const ask = async (): Promise<Answer> => {
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
      body: JSON.stringify({ model: 'empty', messages, tools, stream: true, stream_options: { include_usage: true } }),
    })
    if (!response.ok) throw new Error(`the fake provider says ${response.status}: ${await response.text()}`)
    return readAnswer(await response.text())
  }
  return async (text) => {
    messages.push({ role: 'user', content: text })
    const { calls } = await ask()
    if (calls.length !== NAMES.length) throw new Error(`the fake provider made ${calls.length} calls`)
    messages.push({ role: 'assistant', tool_calls: calls })
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'ok' })
    messages.push({ role: 'assistant', content: (await ask()).content })
  }
}

interface Answer {
  content: string
  calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
}

interface Chunk {
  choices?: { delta: { content?: string; tool_calls?: (Partial<Answer['calls'][number]> & { index: number })[] } }[]
}

function readAnswer(events: string): Answer {
  const answer: Answer = { content: '', calls: [] }
  for (const line of events.split('\n')) {
    if (!line.startsWith('data: {')) continue
    const { choices = [] } = JSON.parse(line.slice(6)) as Chunk
    const delta = choices[0]?.delta
    answer.content += delta?.content ?? ''
    for (const { index, id = '', function: piece } of delta?.tool_calls ?? []) {
      const call = (answer.calls[index] ??= { id, type: 'function', function: { name: '', arguments: '' } })
      call.function.name ||= piece?.name ?? ''
      call.function.arguments += piece?.arguments ?? ''
    }
  }
  return answer
}
