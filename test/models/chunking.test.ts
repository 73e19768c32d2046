/** The answer is the same however a network cuts a stream into pieces. The streams have the shapes of recorded ones. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Completion, ModelDelta } from '../../src/core/model.ts'
import { readStream } from '../../src/models/openai/chat-answer.ts'
import { chatEvents } from '../../src/models/openai/chat-events.ts'
import { chunk } from '../support/raw-provider.ts'

const call = (index: number, id: string, name: string | null, args: string): object =>
  chunk({ tool_calls: [{ index, id, function: { name, arguments: args } }] })
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }

/** With CRLF, comments and characters of two to four bytes. */
const STREAMS: Record<string, string> = {
  openai: events('\n', [
    chunk({ role: 'assistant', content: '', refusal: null }),
    chunk({ content: 'Grüße – ' }),
    chunk({ content: '🌧️ 東京' }),
    chunk({}, 'stop'),
    { choices: [], usage },
    '[DONE]',
  ]),
  calls: events('\r\n', [
    call(0, 'a', 'look', ''),
    call(1, 'b', 'look', '{"ört"'),
    call(0, 'a', null, '{"n":"\\u00e9🎓"}'),
    call(1, 'b', null, ':2}'),
    chunk({}, 'tool_calls', { usage }),
  ]),
  mistral: events('\n', [
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Überlegen' }] }] }),
    chunk({ content: [{ type: 'text', text: 'Vier.\n\ndata: [DONE]' }] }, 'stop'),
    '[DONE]',
  ]),
  deepseek: events('\r\n', [
    chunk({ reasoning_content: 'Hm 🤔' }),
    chunk({ content: null }),
    chunk({ content: 'Ja' }, 'stop'),
  ]),
}

function events(end: string, list: (object | string)[]): string {
  const lines = list.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}${end}${end}`)
  return `: keep-alive${end}${end}${lines.join(`: ping${end}${end}`)}`
}

async function read(pieces: Uint8Array[]): Promise<Completion & { said: string }> {
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift()
      if (piece) controller.enqueue(piece)
      else controller.close()
    },
  })
  const deltas: ModelDelta[] = []
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const completion = await readStream(chatEvents(response), (delta) => deltas.push(delta), { provider: 'p' })
  return {
    ...completion,
    said: deltas.map((delta) => (delta.type === 'toolCall' ? '' : `${delta.type} ${delta.text}`)).join(),
  }
}

it.each(Object.entries(STREAMS))('any chunking of a stream as of %s gives the same answer', async (_, text) => {
  const bytes = new TextEncoder().encode(text)
  const once = await read([bytes])
  expect(once.content + JSON.stringify(once.toolCalls)).not.toContain('\uFFFD')
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 40 }), async (cuts) => {
      const ends = [...cuts.toSorted((a, b) => a - b), bytes.length]
      expect(await read(ends.map((end, i) => bytes.slice(ends[i - 1] ?? 0, end)))).toEqual(once)
    }),
  )
  // Byte by byte.
  expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(once)
})
