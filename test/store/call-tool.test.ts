/** One call of a tool with an effect: when it may run, and how often. */
import { ApplicationFailure } from '@temporalio/common'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Deps } from '../../src/activities/deps.ts'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import { defineSimpleTool } from '../../src/tool/compat.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { AgentDefinition } from '../../src/agent/agent.ts'
import type { AnyTool } from '../../src/tool/any-tool.ts'
import type { Elsewhere, ToolOutcome } from '../../src/protocol/steps.ts'
import { inputHash } from '../../src/store/ledger/hashes.ts'
import { RetryableError } from '../../src/core/retryable-error.ts'
import { forceStep } from '../../src/store/ledger/settle.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { createGate } from '../support/gate.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, take, taker, visit, write } from './fixtures.ts'
import { sentBy, useDatabase } from './postgres.ts'

const at = useDatabase()

/** A session whose model has called `pay`, and one attempt at that call. */
async function calling(
  pay: AnyTool,
  agent: Partial<AgentDefinition> = {},
): Promise<{
  tried: (worker?: Deps) => Promise<ToolOutcome | Elsewhere>
  worker: (bootId: string) => Deps
  begunAndLost: () => Promise<void>
}> {
  const worker = (bootId?: string): Deps =>
    depsOf(at.db, { llm: scriptedModel([]), ...agent, capabilities: { tools: [pay] } }, bootId)
  const deps = worker()
  const run = await openSession(at.db)
  const { sessionId } = run
  const call = { id: 'c-1', name: 'pay', arguments: '{}' }
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: [call] }])
  const key = 't1.0.0'
  const place = { turn: 1, base: 1, place: placeAt(1), messageId: 'm', round: 0, index: 0, seq: 2 }
  const input = { sessionId, key, call, gen: 0, ...place }
  return {
    worker,
    tried: (by = deps) => attempt(run, () => callTool(by, input)),
    async begunAndLost() {
      const { chain } = await deps.transcripts.read(at.db, { sessionId, gen: 0, seq: 1 })
      const step = { key, kind: 'tool', name: 'pay', inputHash: inputHash('tool', chain, 0, 'pay', '{}') } as const
      await take(at.db, run, step)
      await forceStep(at.db, { run, ...step })
    },
  }
}

it('that did not happen is given back and runs in the next attempt, because finding out has used some of its time', async () => {
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

it.each(['validate', 'factory'])(
  'whose worker dies in its slow %s has not begun, so it runs in the next one',
  async (where) => {
    let paid = 0
    const dying = createGate()
    const validate = (): Promise<undefined> =>
      dying.arrived === 0 ? dying.pass().then(() => undefined) : Promise.resolve(undefined)
    const plain = { name: 'pay', description: 'd', parameters: { type: 'object' }, execute: () => `paid ${++paid}` }
    const pay =
      where === 'validate' ? { ...plain, validate } : { name: 'pay', factory: () => validate().then(() => plain) }
    const { tried, worker } = await calling(pay)
    const dead = tried(worker(await visit(at.db)))
    await dying.reached()
    await stealDeadSteps(at.db, taker('a survivor'))

    expect(await tried()).toMatchObject({ kind: 'settled', isError: false, preview: 'paid 1' })
    dying.open()
    // A worker that was only thought dead finds that it must not begin.
    await expect(dead).rejects.toThrow('does not begin')
    expect(paid).toBe(1)
  },
)

/** Whether the first claim of the call says that it has not begun. */
async function claimedToPrepare(work: () => Promise<unknown>): Promise<unknown> {
  return (await sentBy(work)).find(({ name }) => name === 'claim')?.values[8]
}

it.each<[string, z.ZodType, boolean]>([
  [
    'code of its author',
    z.object({
      to: z
        .string()
        .optional()
        .refine(() => true),
    }),
    true,
  ],
  ['a pattern', z.object({ to: z.string().regex(/^a+$/).optional() }), true],
  ['nothing that takes long', z.object({ to: z.string().optional() }), false],
])('whose check runs %s begins behind the check only if that may be slow', async (_what, schema, preparing) => {
  const { tried } = await calling(tool('pay', 'Pays', schema, () => 'paid'))
  expect(await claimedToPrepare(() => tried())).toBe(preparing)
})

it('of a tool that this worker does not have begins nothing: a worker that has it must not take the call for lost', async () => {
  const { tried } = await calling(defineSimpleTool({ name: 'pay', description: 'd', execute: () => 'paid' }))
  const without = depsOf(at.db, { llm: scriptedModel([]) })
  expect(await claimedToPrepare(() => tried(without))).toBe(true)
})

it('whose instance cannot be made is tried again, because it has not begun', async () => {
  let paid = 0
  let made = 0
  const pay = {
    name: 'pay',
    factory() {
      if (++made === 1) throw new Error('no connection yet')
      return { name: 'pay', description: 'd', parameters: { type: 'object' }, execute: () => `paid ${++paid}` }
    },
  }
  const { tried } = await calling(pay)

  await expect(tried()).rejects.toThrow('no connection yet')
  expect(await tried()).toMatchObject({ kind: 'settled', isError: false, preview: 'paid 1' })
})

/** An error of another copy of this package has another class. */
const ofAnotherCopy = (): Error =>
  Object.assign(new Error('busy'), { name: 'RetryableError', nothingDone: true, retryAfterMs: 5000 })

it.each([
  ['its own class', () => new RetryableError('busy', { retryAfter: '5s' })],
  ['the class of another copy of the package', ofAnotherCopy],
])('that says it has done nothing, with %s, runs again after the wait it asks for', async (_what, busy) => {
  let tries = 0
  const pay = defineSimpleTool({
    name: 'pay',
    description: 'd',
    execute() {
      if (++tries === 1) throw busy()
      return 'paid'
    },
  })
  const { tried } = await calling(pay)
  await expect(tried()).rejects.toMatchObject({ message: 'busy', nextRetryDelay: 5000 })
  expect(await tried()).toMatchObject({ kind: 'settled', isError: false, preview: 'paid' })
})

it('that says it has done nothing has no unknown outcome when its worker dies before the next attempt', async () => {
  let tries = 0
  const pay = defineSimpleTool({
    name: 'pay',
    description: 'd',
    execute() {
      if (++tries === 1) throw new RetryableError('busy')
      return 'paid'
    },
  })
  const { tried, worker } = await calling(pay)
  await expect(tried(worker(await visit(at.db)))).rejects.toMatchObject({ nextRetryDelay: 500 })
  await stealDeadSteps(at.db, taker('a survivor'))
  expect(await tried()).toMatchObject({ kind: 'settled', isError: false, preview: 'paid' })
})

it.each([
  ['three times by default, the wait doubling', {}, {}, [500, 1000]],
  ['as often as the agent says', { retries: { tools: { attempts: 2, backoff: '3s' } } }, {}, [3000]],
  ['as often as the tool says', { retries: { tools: { attempts: 9, backoff: '3s' } } }, { attempts: 3 }, [3000, 6000]],
  ['once if the tool says so', {}, { attempts: 1 }, []],
])('that never gets to do anything is tried %s; then the model reads why', async (_how, agent, retries, waits) => {
  const pay = defineSimpleTool({
    name: 'pay',
    description: 'd',
    retries,
    execute() {
      throw new RetryableError('busy')
    },
  })
  const { tried } = await calling(pay, agent)
  for (const wait of waits) {
    const thrown: unknown = await tried().catch((error: unknown) => error)
    expect(thrown instanceof ApplicationFailure && thrown.nextRetryDelay).toBe(wait)
  }
  expect(await tried()).toMatchObject({ kind: 'settled', isError: true, code: 'TOOL_EXECUTION_ERROR' })
})

it('whose error only has the same name is not tried again', async () => {
  const pay = defineSimpleTool({
    name: 'pay',
    description: 'd',
    execute() {
      throw Object.assign(new Error('of another library'), { name: 'RetryableError' })
    },
  })
  const { tried } = await calling(pay)
  expect(await tried()).toMatchObject({ kind: 'settled', isError: true, code: 'TOOL_EXECUTION_ERROR' })
})
