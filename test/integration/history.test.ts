/** The history of the workflow does not grow with the length of the conversation. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { runsOf } from '../support/runs.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'

const stello = useStello()
const BODY = 'x'.repeat(8 * 1024)

it('costs the same history for late turns as for early ones, over all runs of the workflow', async () => {
  const echo = tool('echo', 'Answers with much text', z.object({ text: z.string() }), ({ text }) => text)
  const llm = scriptedModel(
    replyBy([
      ['turn', { toolCalls: [{ name: 'echo', arguments: { text: BODY } }] }],
      [{ tool: 'echo' }, BODY],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [echo] } })
  const bytesAfter = new Map([[0, 0]])
  for (let turn = 1; turn <= 60; turn++) {
    await ask(session, `turn ${turn} ${BODY}`)
    if (turn % 30 > 0) continue
    await viewOf(stello.client, session, ({ status, turns }) => status === 'idle' && turns === turn)
    const runs = await runsOf(stello, session)
    bytesAfter.set(
      turn,
      runs.reduce((sum, { bytes }) => sum + bytes, 0),
    )
  }
  const between = (from: number, to: number): number => (bytesAfter.get(to) ?? 0) - (bytesAfter.get(from) ?? 0)
  expect(between(30, 60)).toBeLessThanOrEqual(between(0, 30) * 1.1)
  // A turn holds 32 KB of conversation, so this fails if any of it gets into the history.
  expect(between(30, 60) / 30).toBeLessThan(12 * 1024)
  expect(llm.calls.at(-1)?.messages).toHaveLength(59 * 4 + 3)
}, 120_000)
