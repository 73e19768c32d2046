/**
 * The offline model of the demo. It is rule-based and does not pretend otherwise: it splits a question into its words,
 * searches for each, and quotes what it has found. It exists so that the same client code runs without a key.
 */
import type { Completion, Message, Model, ToolCall } from '../../src/index.ts'

const STOP_WORDS = new Set(
  'a about all an and are as at be become becomes behave behaves by can did do does explain for from get gets happen happens handle handles have how in into is it its of on or out packages that the their them these they this to use used what when where which who why with work you your'.split(
    ' ',
  ),
)

export function planner(): Model {
  return {
    name: 'offline-planner',
    async complete(messages) {
      const system = messages.find((message) => message.role === 'system')?.content ?? ''
      const answer = system.startsWith('You read documents') ? read(messages) : lead(messages)
      return {
        ...answer,
        usage: { ...answer.usage, inputTokens: tokens(messages.map((message) => message.content).join('')) },
      }
    },
  }
}

/** What this model can and cannot do, for people who read one of its reports. */
export const NO_INSIGHT =
  'Made without a key for a model: the quotations are real and checked, but nobody has understood the question.'

/** One part for each word that carries meaning; at least two, at most four. */
export function split(question: string): string[] {
  const words = question.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? []
  const topics = [...new Set(words.filter((word) => word.length > 2 && !STOP_WORDS.has(word)))].slice(0, 4)
  while (topics.length < 2) topics.push(['documentation', 'example'][topics.length] ?? 'usage')
  return topics.map((topic) => `What do the documents say about ${topic}?`)
}

function lead(messages: Message[]): Completion {
  const last = messages.at(-1)
  const asked = messages.filter((message) => message.role === 'user')
  const isWritten = messages.some((message) => message.role === 'tool' && message.name === 'write_report')
  if (last?.role === 'user') {
    if (asked.length > 1 && !isWritten)
      return reply('', [call('write_report', { content: compose(messages, last.content) })])
    const tasks = split(last.content).map((part) => ({ label: part, message: part, profile: 'reader' }))
    const [aside] = isWritten ? [] : tasks.splice(-1)
    return reply('', [
      ...tasks.map((task) => call('new_task', task)),
      ...(aside ? [call('stello_create_session', { label: aside.label, profile: aside.profile })] : []),
    ])
  }
  if (last?.name === 'write_report') return reply('The report is written.')
  if (isWritten)
    return reply(findingsOf(messages.slice(messages.findLastIndex(({ role }) => role === 'user'))).join('\n\n'))
  return reply('The parts are read; the findings of the last session are still to come.')
}

function findingsOf(messages: Message[]): string[] {
  return messages.filter(({ role, name }) => role === 'tool' && name === 'new_task').map(({ content }) => content)
}

function compose(messages: Message[], lastFindings: string): string {
  const question = messages.find((message) => message.role === 'user')?.content ?? ''
  return [`# ${question}`, `*${NO_INSIGHT}*`, ...findingsOf(messages), lastFindings.replace(/^.*?\n\n/s, '')].join(
    '\n\n',
  )
}

function read(messages: Message[]): Completion {
  const last = messages.at(-1)
  const part = messages.findLast((message) => message.role === 'user')?.content ?? ''
  const topic = /about (.+)\?$/.exec(part)?.[1] ?? part
  if (last?.role === 'user') return reply('', [call('search_docs', { words: [topic] })])
  const hits = (messages.findLast((message) => message.name === 'search_docs')?.content ?? '')
    .split('\n')
    .flatMap(toHit)
    .slice(0, 3)
  if (last?.name === 'search_docs' && hits.length > 0) {
    return reply(
      '',
      hits.map((hit) => call('read_doc', { file: hit.file, from: Math.max(1, hit.line - 2), count: 5 })),
    )
  }
  if (hits.length === 0) return reply(`## ${part}\n\nNothing was found about “${topic}”.`)
  const quotations = hits.map((hit) => `> ${hit.text}\n\n— ${hit.file}:${hit.line}`)
  return reply([`## ${part}`, `${hits.length} documents speak of “${topic}”:`, ...quotations].join('\n\n'))
}

function toHit(line: string): { file: string; line: number; text: string }[] {
  const match = /^(.+?):(\d+): (.+)$/.exec(line)
  return match ? [{ file: match[1] ?? '', line: Number(match[2]), text: match[3] ?? '' }] : []
}

function call(name: string, args: Record<string, unknown>): Omit<ToolCall, 'id'> {
  return { name, arguments: JSON.stringify(args) }
}

/** A rough count, so that the summary has something to add up. */
function tokens(text: string): number {
  return Math.ceil(text.length / 4)
}

function reply(content: string, calls: Omit<ToolCall, 'id'>[] = []): Completion {
  return {
    content,
    toolCalls: calls.map((each, i) => ({ ...each, id: `call_${i}` })),
    usage: { inputTokens: 0, outputTokens: tokens(content + calls.map((each) => each.arguments).join('')) },
    finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
  }
}
