/**
 * A backstop ran out while the store was away. The worker that has the step in hand may know how it ended. It may say
 * so before the step is ended from outside.
 */
import { afterEach, expect, it } from 'vitest'
import type { Deps } from '../../src/activities/deps.ts'
import { settleModel } from '../../src/activities/model/settle-model.ts'
import { settleTool } from '../../src/activities/tool/settle-tool.ts'
import { defineSimpleTool } from '../../src/tool/compat.ts'
import type { CallToolInput, ModelOutcome, ToolOutcome } from '../../src/protocol/steps.ts'
import type { StepId } from '../../src/store/ledger/claim.ts'
import { holdLiveness, newBootId } from '../../src/store/ledger/liveness.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { settleStep as settle } from '../../src/store/ledger/settle.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, take, visit, write } from './fixtures.ts'
import { sentBy, useDatabase } from './postgres.ts'

const at = useDatabase()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

interface InHand {
  deps: Deps
  run: RunRef
  step: StepId
  end(): Promise<ModelOutcome | ToolOutcome>
}

/** A step that `owner` has in hand and whose backstop ran out. */
async function inHand(of: 'model' | 'tool', owner: string): Promise<InHand> {
  const tools = [defineSimpleTool({ name: 'pay', description: 'd', execute: () => 'never' })]
  const deps = depsOf(at.db, { llm: scriptedModel([]), capabilities: { tools } })
  const run = await openSession(at.db)
  const call = { id: 'c-1', name: 'pay', arguments: '{}' }
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: [call] }])
  const key = of === 'model' ? 'm1.1' : 't1.0.0'
  const step = await take(at.db, run, { key, kind: of, owner })
  const common = {
    sessionId: run.sessionId,
    key,
    gen: 0,
    turn: 1,
    base: 1,
    place: placeAt(1),
    messageId: 'm',
    round: 0,
  }
  const tool: CallToolInput = { ...common, call, index: 0, seq: 2 }
  const end = (): Promise<ModelOutcome | ToolOutcome> =>
    of === 'model'
      ? settleModel(deps, { step: { ...common, round: 1, upTo: 1, last: false }, proposed: 'timedOut' })
      : settleTool(deps, { step: tool, proposed: { kind: 'timedOut' } })
  return { deps, run, step, end: () => attempt(run, end) }
}

async function living(): Promise<string> {
  const bootId = newBootId()
  const { release } = await holdLiveness(at.url, bootId)
  closing.push(release)
  return bootId
}

it.each(['model', 'tool'] as const)(
  'takes the outcome of a %s step that its living worker still reports',
  async (of) => {
    const { step, end } = await inHand(of, await living())
    await sentBy(async (sent) => {
      const ended = end()
      await until('it waits', async () => sent.filter(({ name }) => name === 'holder_read').length > 1)
      await settle(at.db, step, { outcome: { kind: 'told by its worker', gen: 0 }, writes: {} })
      expect(await ended).toMatchObject({ kind: 'told by its worker' })
    })
  },
)

it('ends the step when its living worker has had its chance', async () => {
  const { end } = await inHand('tool', await living())
  expect(await end()).toMatchObject({ kind: 'settled', isError: true })
})

it('does not wait for a worker that is dead', async () => {
  const { end } = await inHand('tool', await visit(at.db))
  const sent = await sentBy(async () => expect(await end()).toMatchObject({ kind: 'settled', isError: true }))
  expect(sent.filter(({ name }) => name === 'holder_read')).toHaveLength(1)
})
