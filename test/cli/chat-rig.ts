/** A chat on a real terminal, with real servers, a worker process, and a model whose words the test holds back. */
import { fileURLToPath } from 'node:url'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'
import type { Model, ModelDelta } from '../../src/core/model.ts'
import { startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'
import { builtModule } from '../support/built.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { openScreen, type Screen } from '../support/screen.ts'
import { callPieces, toCompletion } from '../support/streaming-model.ts'
import { until } from '../support/until.ts'
import type { TerminalOptions } from '../support/terminal.ts'
import { newFolder, start, type Running } from './command.ts'
import { useServed, type Served } from './served.ts'

const AGENT = fileURLToPath(new URL('chat-agent.ts', import.meta.url))

export const HOSTILE = '\u001b]0;owned\u0007\u009b2J\u202e'

export const MARKDOWN = `# Report

Some **bold** words, \`code\`, and [a link](https://example.org/x).

- one
- two

| city | rain |
| --- | ---: |
| Oslo | 12 |
`

/** The last line of a panel. */
const PANEL = 'Esc: later'

/** A screen on which a chat runs. */
export interface ChatScreen extends Screen {
  /** Presses the number of a row until the panel has gone: one that has just come answers to no key. */
  choose(row: string): Promise<void>
}

export interface ChatRig extends Served {
  /** What is said behind "slowly": its second half, when the gate is open. */
  readonly half: Gate
  /** Opens a chat on a terminal of its own. */
  chat(args?: string[], options?: Partial<TerminalOptions>): Promise<ChatScreen>
  work(): Promise<Running>
}

export function useChats(): ChatRig {
  const served = useServed()
  let fake: FakeOpenAI
  let half = createGate()
  const model: Model = {
    name: 'fake',
    async complete(messages, { onDelta, signal } = {}) {
      const last = messages.at(-1)
      const pieces = last?.role === 'tool' ? said(`Read: ${last.content}`) : answerTo(last?.content ?? '')
      for (const [at, piece] of pieces.entries()) {
        onDelta?.(piece)
        if (at === 0 && /slowly/.test(last?.content ?? '')) await Promise.race([half.pass(), aborted(signal)])
      }
      return toCompletion(pieces)
    },
  }
  beforeAll(async () => {
    fake = await startFakeOpenAI({ model })
  })
  afterAll(() => fake.close())
  const env = (): Record<string, string> => ({ ...served.env, OPENAI_BASE_URL: fake.url })
  return {
    get agent() {
      return served.agent
    },
    get env() {
      return env()
    },
    get model() {
      return served.model
    },
    get client() {
      return served.client
    },
    get db() {
      return served.db
    },
    startWorker: served.startWorker,
    get half() {
      return half
    },
    async chat(args = [], options = {}) {
      half = createGate()
      const cwd = options.cwd ?? (await newFolder())
      const command = [process.execPath, builtModule('src/cli/main.ts'), 'chat', ...args]
      const screen = openScreen(command, { cwd, ...options, env: { ...env(), EDITOR: '', VISUAL: '', ...options.env } })
      await screen.shows('❯')
      const choose = (row: string): Promise<void> =>
        until('the panel has gone', async () => {
          if (!(await screen.seen()).some((line) => line.includes(PANEL))) return true
          screen.press(row)
          return setTimeout(200, false)
        }).then(() => undefined)
      return { ...screen, choose }
    },
    async work() {
      const worker = start(['worker', AGENT, '--json'], { env: env() })
      await worker.line()
      return worker
    },
  }
}

function said(...texts: string[]): ModelDelta[] {
  return texts.map((text) => ({ type: 'text', text }))
}

function answerTo(text: string): ModelDelta[] {
  if (text.startsWith('report')) return said(MARKDOWN)
  if (text.startsWith('slowly')) return said('First half, ', 'second half.')
  if (text.startsWith('weather')) return callPieces('weather', ['{"city":', '"Oslo"}'])
  if (text.startsWith('remove')) return callPieces('remove', ['{"path":', '"a.txt"}'])
  if (text.startsWith('delegate')) return callPieces('new_task', ['{"label":"below","message":"slowly, please"}'])
  if (text.startsWith('hostile')) return said(`danger ${HOSTILE}`)
  return said(`You said: ${text}`)
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
}
