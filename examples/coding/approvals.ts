/** Answers the approvals of a session. A person answers them at the terminal, or all are permitted without asking. */
import { createInterface } from 'node:readline/promises'
import type { SessionHandle } from '../../src/client/index.ts'
import { say } from '../stage.ts'

export interface Approvals {
  /** How many were permitted. */
  count(): number
  /** Rejects when the approvals cannot be watched. */
  failed: Promise<never>
  stop(): Promise<void>
}

/** @param yes permit without asking */
export function answerApprovals(session: SessionHandle, { yes }: { yes: boolean }): Approvals {
  const stop = new AbortController()
  let permitted = 0
  const watching = (async () => {
    for await (const event of session.watch({ live: false, signal: stop.signal })) {
      if (event.type !== 'pending.opened' || event.data.kind !== 'approval') continue
      const { id, message, preview } = event.data
      const said = yes
        ? 'a'
        : await askHere(`${message}\n  ${preview}\n  [y]es, [a]lways in this session, [n]o: `, stop)
      if (yes) say(`permitted, as nobody is at the terminal: ${message}`)
      if (!/^[ya]/i.test(said)) await session.deny(id, 'not now')
      else {
        await session.approve(id, /^a/i.test(said) ? { remember: 'session' } : {})
        permitted++
      }
    }
  })()
  const failed = new Promise<never>((_resolve, reject) => watching.catch(reject))
  failed.catch(() => undefined)
  return {
    count: () => permitted,
    failed,
    async stop() {
      stop.abort()
      await watching.catch(() => undefined)
    },
  }
}

async function askHere(question: string, { signal }: AbortController): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question(question, { signal })
  } finally {
    terminal.close()
  }
}
