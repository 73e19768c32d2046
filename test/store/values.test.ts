/** Values that tools keep with their session: stored with the result of their call, and rewound with it. */
import { describe, expect, it } from 'vitest'
import type { Deps } from '../../src/activities/deps.ts'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import type { Elsewhere, ToolOutcome } from '../../src/protocol/steps.ts'
import { defineSimpleTool } from '../../src/tool/compat.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { readValue } from '../../src/store/transcript/values.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { attempt, depsOf } from './activity.ts'
import { countRows, openSession, placeAt, resetRun, take, taker, userRecord, visit, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

/** A step that writes record `seq` and sets `count`. */
async function set(run: RunRef, seq: number, count: unknown, inputHash = `hash ${seq}`): Promise<void> {
  const step = await take(at.db, run, { key: `m${seq}.0`, inputHash })
  const values = [{ name: 'count', value: count }]
  await settleStep(at.db, step, {
    outcome: { kind: 'settled', gen: step.gen },
    writes: { records: [userRecord(seq)], values },
  })
}

const count = (run: RunRef, gen: number, seq: number): Promise<unknown> =>
  readValue(at.db, { sessionId: run.sessionId, gen, seq }, 'count')

describe('a value', () => {
  it('is seen from the record of its call on, until a later call sets it again or removes it', async () => {
    const run = await openSession(at.db)
    await set(run, 1, 'one')
    await set(run, 2, { two: [2] })
    await set(run, 3, null)
    expect([await count(run, 0, 0), await count(run, 0, 1)]).toEqual([undefined, 'one'])
    expect([await count(run, 0, 2), await count(run, 0, 3)]).toEqual([{ two: [2] }, undefined])
  })

  it('belongs to its session', async () => {
    const run = await openSession(at.db)
    await set(run, 1, 'one')
    const branch = { sessionId: run.sessionId, gen: 0, seq: 1 }
    const fork = await openSession(at.db, { parentId: run.sessionId, rootId: run.sessionId, depth: 1, branch })
    expect(await count(fork, 0, 1)).toBeUndefined()
  })

  it('is rewound with its record by a reset of Temporal', async () => {
    const run = await openSession(at.db)
    for (const seq of [1, 2, 3]) await set(run, seq, `old ${seq}`)
    const reset = resetRun(run, 'reset', 1)
    const step = await take(at.db, reset, { key: 'other', inputHash: 'another question' })
    expect(await count(run, 1, 9)).toBe('old 1')
    await settleStep(at.db, step, {
      outcome: {},
      writes: { records: [userRecord(2)], values: [{ name: 'count', value: 'new 2' }] },
    })
    expect([await count(run, 1, 1), await count(run, 1, 9)]).toEqual(['old 1', 'new 2'])
    expect(await count(run, 0, 9)).toBe('old 3')
  })

  it('is kept by the generation that takes its call over', async () => {
    const run = await openSession(at.db)
    for (const seq of [1, 2, 3]) await set(run, seq, `old ${seq}`)
    const reset = resetRun(run, 'reset', 1)
    await expect(take(at.db, reset, { key: 'm2.0', inputHash: 'hash 2' })).rejects.toThrow('settled')
    expect([await count(run, 1, 1), await count(run, 1, 9)]).toEqual(['old 1', 'old 2'])
  })

  it('costs no row if none is set', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    await settleStep(at.db, step, { outcome: {}, writes: { records: [userRecord(1)] } })
    expect(await countRows(at.db, 'session_values', run.sessionId)).toBe(0)
  })
})

const tool = (execute: Parameters<typeof defineSimpleTool>[0]['execute']): ReturnType<typeof defineSimpleTool> =>
  defineSimpleTool({ name: 'count', description: 'd', effect: 'idempotent', kind: 'write', ordered: true, execute })

/** A session whose model has called `count` twice in one round. */
async function calling(counting: ReturnType<typeof defineSimpleTool>): Promise<{
  run: RunRef
  worker: (bootId: string) => Deps
  call: (index: number, by?: Deps) => Promise<ToolOutcome | Elsewhere>
}> {
  const worker = (bootId?: string): Deps =>
    depsOf(at.db, { llm: scriptedModel([]), capabilities: { tools: [counting] } }, bootId)
  const deps = worker()
  const run = await openSession(at.db)
  const calls = [0, 1].map((n) => ({ id: `c-${n}`, name: 'count', arguments: '{}' }))
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: calls }])
  const call = (index: number, by = deps): Promise<ToolOutcome | Elsewhere> => {
    const key = `t1.0.${index}`
    const place = { turn: 1, base: 1, place: placeAt(1), messageId: 'm', round: 0, index, seq: 2 + index }
    const { sessionId } = run
    return attempt(run, () => callTool(by, { sessionId, key, call: calls[index] ?? never(), gen: 0, ...place }))
  }
  return { run, worker, call }
}

function never(): never {
  throw new Error('the round has two calls')
}

describe('a call', () => {
  const counting = tool(async (_args, ctx) => {
    const so = ((await ctx.values.get('count')) as number | undefined) ?? 0
    ctx.values.set('count', so + 1)
    return `counted ${so + 1}`
  })

  it('finds what the call before it has set', async () => {
    const { run, call } = await calling(counting)
    expect([await call(0), await call(1)]).toMatchObject([{ preview: 'counted 1' }, { preview: 'counted 2' }])
    expect([await count(run, 0, 2), await count(run, 0, 3)]).toEqual([1, 2])
  })

  it('does not find what a later call has set, in whatever order they run', async () => {
    const { call } = await calling(counting)
    expect([await call(1), await call(0)]).toMatchObject([{ preview: 'counted 1' }, { preview: 'counted 1' }])
  })

  it('keeps what it has set when its result is a failure that the tool reports', async () => {
    const { run, call } = await calling(
      tool(async (_args, ctx) => {
        ctx.values.set('count', 1)
        return { content: [{ type: 'text', text: 'exit code 1' }], isError: true }
      }),
    )
    expect(await call(0)).toMatchObject({ kind: 'settled', isError: true })
    expect(await count(run, 0, 9)).toBe(1)
  })

  it('that throws sets nothing', async () => {
    const { run, call } = await calling(
      tool(async (_args, ctx) => {
        ctx.values.set('count', 1)
        throw new Error('no')
      }),
    )
    await expect(call(0)).rejects.toThrow('no')
    await expect(call(0)).rejects.toThrow('no')
    expect(await call(0)).toMatchObject({ kind: 'settled', isError: true })
    expect(await count(run, 0, 9)).toBeUndefined()
  })

  it('whose worker dies sets nothing, and begins from the values that the dead one found', async () => {
    const dying = createGate()
    const { run, call, worker } = await calling(
      tool(async (_args, ctx) => {
        const found = await ctx.values.get('count')
        ctx.values.set('count', 1)
        if (dying.arrived === 0) await dying.pass()
        return `found ${String(found)}`
      }),
    )
    const dead = call(0, worker(await visit(at.db)))
    await dying.reached()
    await stealDeadSteps(at.db, taker('a survivor'))
    expect(await count(run, 0, 9)).toBeUndefined()
    expect(await call(0)).toMatchObject({ preview: 'found undefined' })
    dying.open()
    expect(await dead).toMatchObject({ preview: 'found undefined' })
    expect(await countRows(at.db, 'session_values', run.sessionId)).toBe(1)
  })
})
