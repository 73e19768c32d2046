/**
 * What the terminal shows while the job runs: the tree, drawn again in place. Without a terminal, one line per event.
 */
import { setTimeout as delay } from 'node:timers/promises'
import logUpdate from 'log-update'
import type { SessionHandle, StelloEvent } from '../../src/client/index.ts'
import { age, eventLine, treeLines } from '../../src/cli/output/format.ts'
import { printable } from '../../src/cli/output/printable.ts'

export interface Counts {
  modelCalls: number
  toolCalls: number
  inputTokens: number
  outputTokens: number
}

export interface Progress {
  readonly counts: Counts
  /** Resolves with the first result of `find` over the events, past ones included. */
  until<Found>(find: (event: StelloEvent, counts: Counts) => Found | false): Promise<Found>
  note(text: string): void
  /** The path of the report, as soon as one is written. */
  report(): string | undefined
  /** Draws the tree once more, as it is now. */
  stop(): Promise<void>
}

const REDRAW_MS = 250
/** The result of `write_report`. */
const WRITTEN = /written to (.+): \d+ characters/

export function showProgress(session: SessionHandle, show: { tree: boolean; lines: boolean }): Progress {
  const counts: Counts = { modelCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0 }
  const events: StelloEvent[] = []
  const waiting = new Set<(event: StelloEvent) => void>()
  const stop = new AbortController()
  const started = new Date()
  const note = (text: string): void => {
    if (show.tree) logUpdate.clear()
    process.stderr.write(`${text}\n`)
  }

  const watching = (async () => {
    for await (const event of session.watch({ tree: true, live: false, signal: stop.signal })) {
      count(counts, event)
      events.push(event)
      const line = show.lines ? eventLine(printable(event)) : undefined
      if (line !== undefined) note(line)
      for (const tell of waiting) tell(event)
    }
  })()
  const draw = async (): Promise<void> => {
    const tree = await session.tree().catch(() => undefined)
    const { modelCalls, toolCalls } = counts
    const status = `${age(started)}  ${modelCalls} model calls, ${toolCalls} tool calls`
    if (tree) logUpdate([...treeLines(printable(tree)), '', status].join('\n'))
  }
  const drawing = (async () => {
    while (show.tree && !stop.signal.aborted) {
      await draw()
      await delay(REDRAW_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  })()

  return {
    counts,
    note,
    report: () => {
      const written = events.findLast(({ type, data }) => type === 'tool.status' && data.name === 'write_report')
      return written?.type === 'tool.status' ? WRITTEN.exec(JSON.stringify(written.data.result))?.[1] : undefined
    },
    until(find) {
      for (const event of events) {
        const past = find(event, counts)
        if (past) return Promise.resolve(past)
      }
      return new Promise((resolve, reject) => {
        const tell = (event: StelloEvent): void => {
          const found = find(event, counts)
          if (!found) return
          waiting.delete(tell)
          resolve(found)
        }
        waiting.add(tell)
        watching.catch(reject)
      })
    },
    async stop() {
      if (stop.signal.aborted) return
      stop.abort()
      await Promise.all([watching, drawing])
      if (!show.tree) return
      await draw()
      logUpdate.done()
    },
  }
}

/** Only finished calls, because the log of events holds no others. */
function count(counts: Counts, { type, data }: StelloEvent): void {
  if (type === 'tool.status') counts.toolCalls++
  if (type !== 'message.completed') return
  counts.modelCalls++
  counts.inputTokens += data.usage.inputTokens
  counts.outputTokens += data.usage.outputTokens
}
