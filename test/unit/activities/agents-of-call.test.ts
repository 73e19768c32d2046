/** The waits of a running call, and what becomes of its attempt. */
import { describe, expect, it } from 'vitest'
import type { Deps } from '../../../src/activities/deps.ts'
import { AgentsOfCall } from '../../../src/activities/tool/agents-of-call.ts'
import type { CallAtHand } from '../../../src/activities/tool/call-at-hand.ts'
import type { AgentsWaited } from '../../../src/tool/call-agents.ts'
import { createGate } from '../../support/gate.ts'

/** @param looks the result of each look at the agents: whether they run, when its promise resolves */
function call(...looks: Promise<boolean>[]) {
  return callAgain([], ...looks)
}

/** @param found the results of the waits of the attempt before */
function callAgain(found: readonly AgentsWaited[], ...looks: Promise<boolean>[]) {
  const query = async ({ values: [, ids] }: { values: [string, string[]] }) => {
    const busy = await looks.shift()
    const row = {
      label: 'agent',
      profile: null,
      closed: false,
      pause: null,
      busy,
      stop_reason: 'end_turn',
      text: 'done',
    }
    return { rows: ids.map((id) => ({ id, ...row })) }
  }
  const handle = { describe: async () => ({ status: { name: 'RUNNING' } }) }
  const deps = { db: { pool: { query } }, client: { workflow: { getHandle: () => handle } } } as unknown as Deps
  return new AgentsOfCall(deps, { input: { sessionId: 's-parent' } } as CallAtHand, found)
}

const runs = Promise.resolve(true)
const finished = Promise.resolve(false)

describe('a wait that is not over', () => {
  it('ends the attempt and fires the signal: no catch and no finally of the tool runs', async () => {
    const agents = call(runs)
    const reached: string[] = []
    const tool = async (): Promise<AgentsWaited> => {
      try {
        return await agents.wait(['s-a'])
      } catch {
        reached.push('catch')
        throw new Error('gone')
      } finally {
        reached.push('finally')
      }
    }
    await expect(Promise.race([tool(), agents.interrupted])).resolves.toMatchObject({
      awaits: { nth: 0, agents: ['s-a'] },
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(reached).toEqual([])
    expect(agents.over.aborted).toBe(true)
  })

  it('is the first of those that were begun together, however long its look takes', async () => {
    const slow = createGate()
    const agents = call(
      slow.opened.then(() => true),
      runs,
    )
    void agents.wait(['s-a'])
    void agents.wait(['s-b'])
    // The other look is over by then.
    await new Promise((resolve) => setImmediate(resolve))
    slow.open()
    await expect(agents.interrupted).resolves.toMatchObject({ awaits: { nth: 0, agents: ['s-a'] } })
  })
})

it('waits that are over return one after another', async () => {
  const agents = call(finished, finished)
  const waited = await Promise.all([agents.wait(['s-a']), agents.wait(['s-b'])])
  expect(waited.map(({ agents: [one], timedOut }) => [one?.id, one?.status, timedOut])).toEqual([
    ['s-a', 'completed', false],
    ['s-b', 'completed', false],
  ])
})

it('a wait that is over gives the same when the call runs again, although its agent was asked again', async () => {
  const first = call(finished, runs)
  const answered = await first.wait(['s-a'])
  void first.wait(['s-a'])
  const interrupted = await first.interrupted
  expect(interrupted).toMatchObject({ awaits: { nth: 1 }, found: [answered] })
  const again = callAgain(interrupted.found, runs)
  expect(await again.wait(['s-a'])).toEqual(answered)
  void again.wait(['s-a'])
  await expect(again.interrupted).resolves.toMatchObject({ awaits: { nth: 1 }, found: [answered] })
})

it.each([Infinity, Number.MAX_VALUE, 1e15])('a time-out of %d ms is none', async (timeoutMs) => {
  const agents = call(runs)
  void agents.wait(['s-a'], { timeoutMs })
  await expect(agents.interrupted).resolves.toMatchObject({
    awaits: expect.not.objectContaining({ until: expect.anything() }),
  })
})
