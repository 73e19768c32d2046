/**
 * The research job as a client runs it. Turn 1 hands out the parts. Then the forked session is asked for its part. Turn
 * 2 writes the report.
 */
import { StelloError } from '../../src/core/errors.ts'
import type { SessionHandle, StelloClient } from '../../src/client/index.ts'
import type { Progress } from './progress.ts'

/** The command to type in a checkout. */
export const STELLO = 'node --import tsx src/cli/main.ts'

/** @throws StelloError SESSION_PAUSED when a session of the tree is paused, because nobody would resume it */
export async function research(
  stello: StelloClient,
  session: SessionHandle,
  question: string,
  progress: Progress,
): Promise<void> {
  const first = await session.send(question, { messageId: 'question' })
  const paused = progress
    .until((event) => event.type === 'session.paused' && event)
    .then(async ({ sessionId, data }) => {
      throw new StelloError('SESSION_PAUSED', `session ${sessionId} is paused (${data.reason}): ${data.message}`, {
        hint: `mend it, run \`${STELLO} dev examples/research/agent.ts\` and, beside it, \`${STELLO} resume ${sessionId}\``,
      })
    })
  const forked = progress.until((event) => event.type === 'session.forked' && !event.data.awaited && event)
  const work = async (): Promise<void> => {
    const aside = await Promise.race([
      forked.then(({ data }) => data.child),
      first.result().then(() => openChild(session)),
    ])
    const findings =
      aside === undefined ? 'No other session works on a part. Write the report now.' : await askAside(stello, aside)
    await first.result()
    await (await session.send(findings, { messageId: 'findings' })).result()
  }
  await Promise.race([paused, work()])
}

/** A real model may not have forked, or the event of the fork may come later than the answer. */
async function openChild(session: SessionHandle): Promise<string | undefined> {
  return (await session.tree()).children.find((child) => child.state !== 'closed')?.id
}

async function askAside(stello: StelloClient, id: string): Promise<string> {
  const aside = stello.session(id)
  const part = (await aside.state()).label
  const { text } = await (await aside.send(part, { messageId: 'part' })).result()
  return `Findings on “${part}”:\n\n${text}`
}
