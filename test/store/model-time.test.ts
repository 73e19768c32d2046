/** A model that hangs: silence ends a call soon, and its whole time is not used up again and again. */
import { setTimeout as delay } from 'node:timers/promises'
import type { ApplicationFailure } from '@temporalio/common'
import { expect, it } from 'vitest'
import { callModel } from '../../src/activities/model/call-model.ts'
import { Gates } from '../../src/activities/model/gates.ts'
import type { AgentDefinition } from '../../src/agent/agent.ts'
import type { CompleteOptions, Completion } from '../../src/core/model.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession } from './fixtures.ts'
import { openingCall } from './model-input.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const hanging = (): Promise<never> => new Promise(() => undefined)
const answer: Completion = {
  content: 'hi',
  toolCalls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
  finishReason: 'stop',
}

/** How each attempt ends: with the text that Temporal shows until the next one, or with what the workflow is told. */
async function attempts(
  complete: (options: CompleteOptions) => Promise<Completion>,
  settings: Partial<AgentDefinition>,
  n: number,
): Promise<unknown[]> {
  const llm = { name: 'slow', complete: (_messages: unknown, options: CompleteOptions = {}) => complete(options) }
  const deps = depsOf(at.db, { llm, ...settings })
  const run = await openSession(at.db)
  const ended: unknown[] = []
  for (let i = 0; i < n; i++) {
    const one = attempt(run, () => callModel({ ...deps, gates: new Gates() }, openingCall(run)))
    ended.push(await one.catch((error: unknown) => (error as ApplicationFailure).message))
  }
  return ended
}

it('is given up after a silence, which is told, and asked again like a model that is away', async () => {
  const complete = ({ onAlive }: CompleteOptions): Promise<never> => (onAlive?.(), hanging())
  const told: unknown = expect.stringContaining('model slow gave nothing for 0.05 s')
  expect(await attempts(complete, { idleTimeout: 50 }, 3)).toEqual([told, told, told])
})

it('has only its whole time if it gives no sign of life, and gets that time no more than twice', async () => {
  const message = 'model slow: no answer within 0.05 s'
  const [first, second] = await attempts(hanging, { modelTimeout: 50, idleTimeout: 10 }, 2)
  expect(first).toContain(message)
  expect(second).toMatchObject({ kind: 'failed', pause: { clears: 'weather', message } })
})

it('that streams is alive as long as it stays within its whole time', async () => {
  async function complete({ onDelta }: CompleteOptions): Promise<Completion> {
    for (let i = 0; i < 8; i++) {
      onDelta?.({ type: 'text', text: 'h' })
      await delay(50)
    }
    return answer
  }
  const [ended] = await attempts(complete, { idleTimeout: 300 }, 1)
  expect(ended).toMatchObject({ kind: 'answered', text: 'hi' })
})
