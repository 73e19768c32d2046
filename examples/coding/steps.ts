/** Prints a line for each tool call of a session, as it ends. */
import type { SessionHandle } from '../../src/client/index.ts'
import { eventLine } from '../../src/cli/output/format.ts'
import { printable } from '../../src/cli/output/printable.ts'
import { say } from '../stage.ts'

export interface Steps {
  /** How many tool calls have ended. */
  count(): number
  /** Resolves when that many tool calls have ended. */
  until(calls: number): Promise<void>
  stop(): Promise<void>
}

export function showSteps(session: SessionHandle): Steps {
  const stop = new AbortController()
  const waiting = new Map<number, () => void>()
  let ended = 0
  const watching = (async () => {
    for await (const event of session.watch({ live: false, signal: stop.signal })) {
      const line = eventLine(printable(event))
      if (line !== undefined) say(line)
      if (event.type === 'tool.status') waiting.get(++ended)?.()
    }
  })()
  watching.catch(() => undefined)
  return {
    count: () => ended,
    until: (calls) => (ended >= calls ? Promise.resolve() : new Promise((resolve) => waiting.set(calls, resolve))),
    async stop() {
      stop.abort()
      await watching.catch(() => undefined)
    },
  }
}
