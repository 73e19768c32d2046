/** A call that was begun by a worker that is gone, and did not happen: who may run it, and for how long. */
import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { noopMetricMeter } from '@temporalio/common'
import { expect, it } from 'vitest'
import { callTool } from '../../src/activities/call-tool.ts'
import type { Deps } from '../../src/activities/deps.ts'
import { createMetrics } from '../../src/activities/metrics.ts'
import { ToolUses } from '../../src/activities/tool-uses.ts'
import { createStelloAgent } from '../../src/agent/agent.ts'
import { defineSimpleTool } from '../../src/agent/forms.ts'
import type { ToolOutcome } from '../../src/session/steps.ts'
import { inputHash } from '../../src/store/hashes.ts'
import { forceStep } from '../../src/store/settle.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { OWNER, TOKEN, openSession, placeAt, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

it('is given back, since finding that out has used up some of the time of the attempt, and runs in the next', async () => {
  let paid = 0
  const pay = defineSimpleTool({
    name: 'pay',
    description: 'd',
    execute: () => `paid ${++paid}`,
    verify: () => ({ happened: false }),
  })
  const agent = createStelloAgent({ name: 'test', llm: scriptedModel([]), capabilities: { tools: [pay] } })
  const run = await openSession(at.db)
  const { sessionId } = run
  const call = { id: 'c-1', name: 'pay', arguments: '{}' }
  const step = { key: 't1.0.0', kind: 'tool', name: 'pay', inputHash: inputHash('tool', '', 0, 'pay', '{}') } as const
  await take(at.db, run, step)
  await forceStep(at.db, { run, ...step })

  const deps = {
    agent,
    db: at.db,
    bootId: OWNER,
    running: new Map(),
    toolUses: new ToolUses(() => undefined),
    metrics: createMetrics(noopMetricMeter),
    live: { step: () => ({ card: () => undefined, update: () => undefined, end: async () => undefined }) },
    log: { warn: () => undefined },
    notify: () => undefined,
    configs: { read: async () => ({ config: { agent: 'test', label: 'l', model: 'agent', tools: 'agent' } }) },
    transcripts: {
      append: () => undefined,
      read: async () => ({ chain: '', messages: [{ role: 'assistant', content: '', toolCalls: [call] }] }),
    },
  } as unknown as Deps
  const context = {
    info: { workflowExecution: { workflowId: sessionId, runId: run.runId }, taskToken: TOKEN },
    cancellationSignal: new AbortController().signal,
    heartbeat: () => undefined,
  } as unknown as Context
  const attempt = (): Promise<ToolOutcome> =>
    asyncLocalStorage.run(context, () =>
      callTool(deps, {
        sessionId,
        key: step.key,
        call,
        gen: 0,
        turn: 1,
        base: 1,
        place: placeAt(1),
        messageId: 'm',
        round: 0,
        index: 0,
        seq: 2,
      }),
    )

  expect([await attempt(), paid]).toEqual([{ kind: 'due', gen: 0 }, 0])
  expect([await attempt(), paid]).toMatchObject([{ kind: 'settled', isError: false, preview: 'paid 1' }, 1])
})
