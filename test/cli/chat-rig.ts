/** A chat on a real terminal, with real servers, a worker process, and a model that answers when the test lets it. */
import { afterAll, beforeAll } from 'vitest'
import type { Model, ModelDelta } from '../../src/core/model.ts'
import { startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'
import { builtModule } from '../support/built.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { openScreen, type Screen } from '../support/screen.ts'
import { callPieces, toCompletion } from '../support/streaming-model.ts'
import type { TerminalOptions } from '../support/terminal.ts'
import { newFolder, start, type Running } from './command.ts'
import { useServed, type Served } from './served.ts'

const AGENT = builtModule('test/cli/chat-agent.ts')

export const HOSTILE = '\u001b]0;owned\u0007\u009b2J\u202e'

export const MARKDOWN = `# Report

Some **bold** words, \`code\`, and [a link](https://example.org/x).

- one
- two

| city | rain |
| --- | ---: |
| Oslo | 12 |
`

export const WIDE = `| 都市 | 😀 |
| --- | ---: |
| 東京 | 12 |
| Zürich 👩‍👩‍👧 | 3 |
`

/** One question with options to choose one of, and one with options to choose several of. */
const QUESTIONS = {
  questions: [
    { question: 'Which colour?', header: 'Colour', options: [option('red'), option('blue')], multiSelect: false },
    { question: 'Which days?', header: 'Days', options: [option('Monday'), option('Friday')], multiSelect: true },
  ],
}

/** The last line of a panel that answers to keys. */
const PANEL = 'Esc: later'

/** A screen with a chat on it. */
export interface ChatScreen extends Screen {
  /** Presses the number of a row as soon as the panel answers to keys. */
  choose(row: string): Promise<void>
}

export interface ChatRig extends Served {
  /** The answer to "slowly". Its second half comes when the gate is open. */
  readonly half: Gate
  /** Opens a chat on a terminal of its own. */
  open(args: string[], options?: Partial<TerminalOptions>): Promise<ChatScreen>
  /** The same, and waits until a person can type. */
  chat(args?: string[], options?: Partial<TerminalOptions>): Promise<ChatScreen>
  /** A worker process. @param agent the name that it serves the agent by */
  work(agent?: string): Promise<Running>
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
  const rig: ChatRig = {
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
    async open(args, options = {}) {
      half = createGate()
      const cwd = options.cwd ?? (await newFolder())
      const command = [process.execPath, builtModule('src/cli/main.ts'), 'chat', ...args]
      const screen = openScreen(command, { cwd, ...options, env: { ...env(), EDITOR: '', VISUAL: '', ...options.env } })
      const choose = async (row: string): Promise<void> => {
        await screen.shows(PANEL)
        screen.press(row)
      }
      return { ...screen, choose }
    },
    async chat(args = [], options = {}) {
      const screen = await rig.open(args, options)
      await screen.shows('❯')
      return screen
    },
    async work(agent = served.agent) {
      const worker = start(['worker', AGENT, '--json'], { env: { ...env(), TEST_AGENT: agent } })
      await worker.line()
      return worker
    },
  }
  return rig
}

function option(label: string): { label: string; description: string } {
  return { label, description: `it is ${label}` }
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
  if (text.startsWith('ask')) return callPieces('AskUserQuestion', [JSON.stringify(QUESTIONS)])
  if (text.startsWith('pay')) return callPieces('pay', ['{"amount":3}'])
  if (text.startsWith('wide')) return said(WIDE)
  if (text.startsWith('count')) return said(Array.from({ length: 300 }, (_, at) => `- number ${at}.`).join('\n'))
  if (text.startsWith('flood')) return said(`${'on and '.repeat(149_000)}!`)
  if (text.startsWith('hostile')) return said(`danger ${HOSTILE}`)
  return said(`You said: ${text}`)
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
}
