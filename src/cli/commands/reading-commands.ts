/** The commands that read the messages and the work of sessions. They change nothing. */
import { InvalidArgumentError, type Command } from 'commander'
import pc from 'picocolors'
import type { Message, SearchHit, SessionHandle, TimelineSpan } from '../../client/index.ts'
import type { OnSession } from './command-context.ts'
import { onTerminal, terminalColumns } from '../output/fit-line.ts'
import { age, flat, summaryLines } from '../output/format.ts'
import type { Output } from '../output/output.ts'
import { recordLines } from '../output/record-lines.ts'
import { onOne, withSession } from '../sessions/session-argument.ts'
import { wholeNumber } from './whole-number.ts'

export function addReadingCommands(program: Command, on: OnSession): void {
  withSession(program.command('transcript [session-id]'))
    .description('show the conversation as the model knows it')
    .option('--at <seq>', 'one record in full length', wholeNumber)
    .option('--from <n>', 'leave out so many records; -20: show the last 20', placeIn)
    .option('--full', 'at a terminal: fold nothing')
    .action(
      onOne(on)(async ({ out }, session, { at, from, full = false }: Options) => {
        if (at !== undefined) return showMessage(out, (await session.record(at)).message)
        if (!out.json && onTerminal()) return showReadable(out, session, { from, full })
        if (from !== undefined) return showFrom(out, session, from)
        const [messages, summary] = [await session.transcript(), await session.summary()]
        for (const [index, message] of messages.entries()) {
          if (summary?.messages === index) out.result({ summary }, summaryLines(summary))
          showMessage(out, message)
        }
      }),
    )

  withSession(program.command('timeline [session-id]'))
    .description('show who ran when in the session and its forks, also attempts whose worker died')
    .action(
      onOne(on)(async ({ out }, session) => {
        for (const span of await session.timeline()) out.result(span, spanLine)
      }),
    )

  program
    .command('search <text>')
    .description('find words in all conversations, the newest first')
    .option('--session <session-id>', 'only in that conversation, with what it inherits')
    .option('--limit <n>', 'at most this many', wholeNumber, 20)
    .action(
      on(async ({ stello, out }, text: string, { session: sessionId, limit }: { session?: string; limit: number }) => {
        const hits = await stello.search(text, { limit, ...(sessionId !== undefined && { sessionId }) })
        for (const hit of hits) out.result(hit, hitLines)
        if (hits.length === 0) out.note('nothing is found')
      }),
    )
}

interface Options {
  at?: number
  from?: number
  full?: boolean
}

function placeIn(value: string): number {
  if (!/^-?\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(value)
}

async function showFrom(out: Output, session: SessionHandle, from: number): Promise<void> {
  for (let place: number | undefined = from; place !== undefined;) {
    const page = await session.records({ from: place })
    for (const record of page.records) showMessage(out, record.message, record)
    place = page.next
  }
}

/** For somebody at a terminal. */
async function showReadable(
  out: Output,
  session: SessionHandle,
  { from = 0, full }: { from?: number | undefined; full: boolean },
): Promise<void> {
  const summary = await session.summary()
  let place: number | undefined = from
  for (let summarised = false; place !== undefined;) {
    const page = await session.records({ from: place })
    for (const record of page.records) {
      if (summary && summarised && !record.summarised) out.result({ summary }, summaryLines(summary))
      summarised = record.summarised === true
      out.result(record, (shown) =>
        recordLines(shown, { sessionId: session.id, columns: terminalColumns(), full }).join('\n'),
      )
    }
    place = page.next
  }
}

/** @param value the object of a line of JSON */
function showMessage(out: Output, message: Message, value: object = message): void {
  const calls = (message.toolCalls ?? []).map((call) => `\n  → ${call.name} ${call.arguments}`).join('')
  out.result(value, `[${message.role}${message.name ? ` ${message.name}` : ''}] ${message.content}${calls}`)
}

/** The line of a span: when it began, how long it took, what it was, and how it ended. */
function spanLine({
  sessionId,
  kind,
  name,
  title,
  attempt,
  worker,
  begunAt,
  endedAt,
  outcome,
  code,
}: TimelineSpan): string {
  const seconds = ((endedAt?.getTime() ?? Date.now()) - begunAt.getTime()) / 1000
  const begun = begunAt.toISOString().slice(0, 19).replace('T', ' ')
  const end = outcome === 'taken_over' ? 'taken over: its worker died' : (outcome ?? 'goes on')
  const ended = [end, code].filter(Boolean).join(' ')
  const who = `${attempt > 1 ? ` attempt ${attempt}` : ''}${worker === undefined ? '' : ` worker ${worker}`}`
  const bad = outcome !== undefined && outcome !== 'succeeded'
  return `${begun} ${seconds.toFixed(1).padStart(8)}s  ${kind.padEnd(5)} ${sessionId}  ${flat(title ?? name)}  ${bad ? pc.red(ended) : ended}${pc.dim(who)}`
}

/** The line of a hit: its session and record, and the text around the words, each word in colour. */
function hitLines({ sessionId, label, seq, role, at, snippet }: SearchHit): string {
  const text = snippet.map(({ text: part, hit }) => (hit ? pc.yellow(flat(part)) : part.replace(/\s+/g, ' '))).join('')
  return `${sessionId} ${pc.dim(`${seq} ${role}, ${age(at)} ago, ${flat(label)}`)}\n    ${text.trim()}`
}
