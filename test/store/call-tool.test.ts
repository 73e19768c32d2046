/** One call of a tool with an effect: when it may run, and how often. */
import { expect, it } from 'vitest'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import { defineSimpleTool } from '../../src/tool/forms.ts'
import type { AnyTool } from '../../src/tool/any-tool.ts'
import type { ToolOutcome } from '../../src/protocol/steps.ts'
import { inputHash } from '../../src/store/hashes.ts'
import { forceStep } from '../../src/store/settle.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, take, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

/** A session whose model has called `pay`, and one attempt at that call. */
async function calling(
  pay: AnyTool,
): Promise<{ tried: () => Promise<ToolOutcome>; begunAndLost: () => Promise<void> }> {
  const deps = depsOf(at.db, { llm: scriptedModel([]), capabilities: { tools: [pay] } })
  const run = await openSession(at.db)
  const { sessionId } = run
  const call = { id: 'c-1', name: 'pay', arguments: '{}' }
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: [call] }])
  const key = 't1.0.0'
  const place = { turn: 1, base: 1, place: placeAt(1), messageId: 'm', round: 0, index: 0, seq: 2 }
  const input = { sessionId, key, call, gen: 0, ...place }
  return {
    tried: () => attempt(run, () => callTool(deps, input)),
    async begunAndLost() {
      const { chain } = await deps.transcripts.read(at.db, sessionId, 0, 1)
      const step = { key, kind: 'tool', name: 'pay', inputHash: inputHash('tool', chain, 0, 'pay', '{}') } as const
      await take(at.db, run, step)
      await forceStep(at.db, { run, ...step })
    },
  }
}

it('that did not happen is given back, since finding that out has used up some of its time, and runs in the next attempt', async () => {
  let paid = 0
  const pay = defineSimpleTool({
    name: 'pay',
    description: 'd',
    execute: () => `paid ${++paid}`,
    verify: () => ({ happened: false }),
  })
  const { tried, begunAndLost } = await calling(pay)
  await begunAndLost()

  expect([await tried(), paid]).toEqual([{ kind: 'due', gen: 0 }, 0])
  expect([await tried(), paid]).toMatchObject([{ kind: 'settled', isError: false, preview: 'paid 1' }, 1])
})

it('that throws is not tried again: it may have paid before it threw', async () => {
  let paid = 0
  const pay = defineSimpleTool({
    name: 'pay',
    description: 'd',
    execute() {
      paid++
      throw new Error('no answer from the bank')
    },
  })
  const { tried } = await calling(pay)

  expect(await tried()).toMatchObject({ kind: 'settled', isError: true })
  expect([await tried(), paid]).toMatchObject([{ kind: 'settled', isError: true }, 1])
})
