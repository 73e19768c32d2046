/** Streams of the Responses API, written by hand in the shapes that OpenAI sends. */

const ENCRYPTED = 'gAAAAABo-0123456789'

/** The events at the beginning of every stream. */
export function begin(): object[] {
  const response = { id: 'resp_1', object: 'response', model: 'gpt-5.4-2026-03-05', status: 'in_progress', output: [] }
  return [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
  ]
}

/** The last event of a stream. */
export function end(output: object[], more: object = {}, type = 'response.completed'): object {
  return {
    type,
    response: {
      id: 'resp_1',
      object: 'response',
      model: 'gpt-5.4-2026-03-05',
      status: type.slice('response.'.length),
      error: null,
      incomplete_details: null,
      output,
      usage: {
        input_tokens: 120,
        input_tokens_details: { cached_tokens: 100, cache_write_tokens: 10 },
        output_tokens: 40,
        output_tokens_details: { reasoning_tokens: 30 },
        total_tokens: 160,
      },
      ...more,
    },
  }
}

const reasoning = (id: string, encrypted: string, ...texts: string[]): object => ({
  id,
  type: 'reasoning',
  encrypted_content: encrypted,
  summary: texts.map((text) => ({ type: 'summary_text', text })),
})

const message = (id: string, phase: string, text: string): object => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  phase,
  content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
})

const call = (id: string, args: string, status = 'completed'): object => ({
  id: `fc_${id}`,
  type: 'function_call',
  status,
  call_id: `call_${id}`,
  name: 'get_weather',
  arguments: args,
})

/**
 * Two summaries, a text, and two calls whose arguments alternate. The reasoning is complete only in its `done` event.
 * In its `added` event and in the last event, the encrypted content differs.
 */
export function thinksAndCalls(): object[] {
  const items = [
    reasoning('rs_1', ENCRYPTED, '**Ich prüfe** 🤔', 'Zwei Städte'),
    message('msg_1', 'commentary', 'Grüße – 東京'),
    call('a', '{"city":"Tromsø"}'),
    call('b', '{"city":"Bodø"}'),
  ]
  const part = (index: number): object => ({ item_id: 'rs_1', output_index: 0, summary_index: index })
  const text = { item_id: 'msg_1', output_index: 1, content_index: 0 }
  return [
    ...begin(),
    { type: 'response.output_item.added', output_index: 0, item: reasoning('rs_1', 'gAAA-half') },
    { type: 'response.reasoning_summary_part.added', ...part(0), part: { type: 'summary_text', text: '' } },
    { type: 'response.reasoning_summary_text.delta', ...part(0), delta: '**Ich prüfe** ' },
    { type: 'response.reasoning_summary_text.delta', ...part(0), delta: '🤔', obfuscation: 'x7' },
    { type: 'response.reasoning_summary_text.done', ...part(0), text: '**Ich prüfe** 🤔' },
    { type: 'response.reasoning_summary_part.added', ...part(1), part: { type: 'summary_text', text: '' } },
    { type: 'response.reasoning_summary_text.delta', ...part(1), delta: 'Zwei Städte' },
    { type: 'response.output_item.done', output_index: 0, item: items[0] },
    { type: 'response.output_item.added', output_index: 1, item: { ...items[1], content: [] } },
    { type: 'response.content_part.added', ...text, part: { type: 'output_text', text: '' } },
    { type: 'response.output_text.delta', ...text, delta: 'Grüße – ', logprobs: [] },
    { type: 'response.output_text.delta', ...text, delta: '東京', logprobs: [] },
    { type: 'response.output_text.done', ...text, text: 'Grüße – 東京' },
    { type: 'response.output_item.done', output_index: 1, item: items[1] },
    { type: 'response.output_item.added', output_index: 2, item: call('a', '', 'in_progress') },
    { type: 'response.output_item.added', output_index: 3, item: call('b', '', 'in_progress') },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_a', output_index: 2, delta: '{"city":' },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_b', output_index: 3, delta: '{"city":"Bod' },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_a', output_index: 2, delta: '"Tromsø"}' },
    { type: 'response.function_call_arguments.done', item_id: 'fc_a', output_index: 2, arguments: '{"city":"Tromsø"}' },
    { type: 'response.output_item.done', output_index: 2, item: items[2] },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_b', output_index: 3, delta: 'ø"}' },
    { type: 'response.output_item.done', output_index: 3, item: items[3] },
    end([reasoning('rs_1', 'gAAA-other'), ...items.slice(1)]),
  ]
}

/** Two messages, as newer models write them: a commentary and the final answer. */
export function saysTwice(): object[] {
  const items = [message('msg_1', 'commentary', 'I look.'), message('msg_2', 'final_answer', 'Rain.')]
  return [
    ...begin(),
    { type: 'response.output_item.added', output_index: 0, item: { ...items[0], content: [] } },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'I look.' },
    { type: 'response.output_item.done', output_index: 0, item: items[0] },
    { type: 'response.output_item.added', output_index: 1, item: { ...items[1], content: [] } },
    { type: 'response.output_text.delta', item_id: 'msg_2', output_index: 1, content_index: 0, delta: 'Rain.' },
    { type: 'response.output_item.done', output_index: 1, item: items[1] },
    end(items),
  ]
}

/** Cut off in the middle of a call, which is then only in the last event. */
export function runsOutOfTokens(): object[] {
  const cut = call('a', '{"city":"Tro', 'incomplete')
  return [
    ...begin(),
    { type: 'response.output_item.added', output_index: 0, item: call('a', '', 'in_progress') },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_a', output_index: 0, delta: '{"city":"Tro' },
    end([cut], { incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete'),
  ]
}

export function refuses(): object[] {
  const text = 'I cannot help with that.'
  const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' }
  const refused = { ...item, content: [{ type: 'refusal', refusal: text }] }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  return [
    ...begin(),
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.content_part.added', ...place, part: { type: 'refusal', refusal: '' } },
    { type: 'response.refusal.delta', ...place, delta: 'I cannot help ' },
    { type: 'response.refusal.delta', ...place, delta: 'with that.' },
    { type: 'response.refusal.done', ...place, refusal: text },
    { type: 'response.output_item.done', output_index: 0, item: refused },
    end([refused]),
  ]
}

/** The stream of a server that sends whole items. Some servers that imitate the API do so. */
export function sendsWholeItems(): object[] {
  const items = [reasoning('rs_1', ENCRYPTED, 'Hm'), call('a', '{"city":"Oslo"}')]
  return [
    ...begin(),
    ...items.map((item, at) => ({ type: 'response.output_item.done', output_index: at, item })),
    end([]),
  ]
}

/** The events as the bytes of a stream. */
export function toText(events: readonly object[], newline = '\n'): string {
  const lines = events.map((event, n) => {
    const { type } = event as { type: string }
    return `event: ${type}${newline}data: ${JSON.stringify({ ...event, sequence_number: n })}${newline}${newline}`
  })
  return `: keep-alive${newline}${newline}${lines.join('')}`
}
