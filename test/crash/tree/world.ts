/**
 * What lies outside the killed processes and remembers: the provider, the tools' other side, and the file of effects.
 * Each request that arrives here is a mark, and the killer decides between marks.
 */
import { EventEmitter, once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { scriptedModel, startFakeOpenAI } from '../../../src/testing/index.ts'
import { replyTo } from './plan.ts'

export interface ModelRequest {
  /** The idempotency key that the provider was given. */
  key: string
  /** The worker process that asked. */
  pid: number
  /** Milliseconds by the clock of this machine, which PostgreSQL uses too. */
  at: number
}

export interface World {
  readonly modelUrl: string
  readonly toolUrl: string
  readonly requests: readonly ModelRequest[]
  /** The key of each effect of `pay`, in order. The tool itself writes each line. */
  effects(): string[]
  mark(): void
  /** How many marks there were. */
  readonly marks: number
  /** Resolves with the `n`th mark from now. */
  marked(n: number): Promise<void>
  close(): Promise<void>
}

export async function startWorld(effectsFile: string): Promise<World> {
  writeFileSync(effectsFile, '')
  const marking = new EventEmitter()
  let marks = 0
  const mark = (): void => {
    marks++
    marking.emit('mark')
  }
  const requests: ModelRequest[] = []
  const script = scriptedModel(({ messages }) => replyTo(messages))
  const fake = await startFakeOpenAI({
    model: {
      name: 'tree',
      async complete(messages, options) {
        const completion = await script.complete(messages, options)
        mark()
        return completion
      },
    },
  })
  let closed = false
  const listening = (async () => {
    for (let n = 1; !closed; n++) {
      await fake.requested(n)
      const headers = fake.requests[n - 1]?.headers ?? {}
      requests.push({ key: String(headers['idempotency-key']), pid: Number(headers['x-worker']), at: Date.now() })
      mark()
    }
  })()
  listening.catch(() => undefined)

  /** Tools report here that they begin and that they are done. */
  const tools = createServer((_request, response) => {
    mark()
    response.end()
  })
  tools.listen(0, '127.0.0.1')
  await once(tools, 'listening')
  return {
    modelUrl: fake.url,
    toolUrl: `http://127.0.0.1:${(tools.address() as AddressInfo).port}`,
    requests,
    effects: () => readFileSync(effectsFile, 'utf8').split('\n').slice(0, -1),
    mark,
    get marks() {
      return marks
    },
    marked: (n) =>
      new Promise((resolve) => {
        let left = n
        const count = (): void => {
          if (--left > 0) return
          marking.off('mark', count)
          resolve()
        }
        marking.on('mark', count)
      }),
    async close() {
      closed = true
      const over = once(tools, 'close')
      tools.close()
      tools.closeAllConnections()
      await Promise.all([over, fake.close()])
    },
  }
}
