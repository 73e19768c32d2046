/** Which session may ask which provider, and when: with fake timers, and without a request. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Refusal } from '../../../src/activities/model/gate.ts'
import { Gates, type Choice, type GatesOptions, type Pass } from '../../../src/activities/model/gates.ts'
import type { Model } from '../../../src/core/model.ts'

const BUSY: Refusal = { why: '503', told: true }
const BROKEN: Refusal = { why: 'reset', told: false }
const never = (): AbortSignal => new AbortController().signal

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function model(name: string, provider = name): Model {
  return { name, provider, complete: () => Promise.reject(new Error('nobody asks')) }
}

const one = (each: Model): Choice => ({ models: [each], afterMs: Infinity })

function gatesOf(options: GatesOptions = {}): Gates {
  return new Gates({ random: () => 0, ...options })
}

function entered(gates: Gates, choice: Choice): Pass {
  const pass = gates.enter(choice)
  if (!pass) throw new Error('nobody may ask now')
  return pass
}

/** Sessions that stand in line, and the order in which they are let through. */
function line(gates: Gates, choice: Choice): { stand(root: string, times?: number): void; passed: [string, Pass][] } {
  const passed: [string, Pass][] = []
  return {
    passed,
    stand(root, times = 1) {
      for (let n = 0; n < times; n++) {
        void gates
          .wait(choice, root, { withinMs: 600_000, stop: never() })
          .then((pass) => pass && passed.push([root, pass]))
      }
    },
  }
}

describe('While a provider is away', () => {
  it('one session asks when the wait is over, and all others stand in line', async () => {
    const gates = gatesOf()
    const choice = one(model('m'))
    entered(gates, choice).refused(BUSY)
    const { stand, passed } = line(gates, choice)
    stand('r1', 5)
    await vi.advanceTimersByTimeAsync(999)
    expect(passed).toHaveLength(0)
    for (let probes = 1; probes <= 5; probes++) {
      await vi.advanceTimersByTimeAsync(60_000)
      expect(passed).toHaveLength(probes)
      passed.at(-1)?.[1].refused(BUSY)
    }
  })

  it('another provider is asked as ever', () => {
    const gates = gatesOf()
    entered(gates, one(model('m'))).refused(BUSY)
    expect(gates.enter(one(model('n')))).toBeDefined()
    expect(gates.enter(one(model('other', 'm')))).toBeUndefined()
    expect(gates.heldUp(one(model('m')))).toEqual({ provider: 'm', why: '503', nextTryMs: 1000 })
    expect(gates.heldUp(one(model('n')))).toBeUndefined()
  })

  it('the trees take turns, however many sessions each of them has', async () => {
    const gates = gatesOf()
    const choice = one(model('m'))
    entered(gates, choice).refused(BUSY)
    const { stand, passed } = line(gates, choice)
    stand('large', 20)
    stand('small', 2)
    stand('tiny')
    await vi.advanceTimersByTimeAsync(1000)
    for (let served = 0; served < passed.length; served++) {
      passed[served]?.[1].served()
      await vi.advanceTimersByTimeAsync(0)
    }
    expect(passed.map(([root]) => root).slice(0, 6)).toEqual(['large', 'small', 'tiny', 'large', 'small', 'large'])
    expect(passed).toHaveLength(23)
  })

  it('four may ask behind the first that is served, then twice as many', async () => {
    const gates = gatesOf()
    const choice = one(model('m'))
    entered(gates, choice).refused(BUSY)
    const { stand, passed } = line(gates, choice)
    stand('r', 100)
    await vi.advanceTimersByTimeAsync(1000)
    const together: number[] = []
    for (let served = 0; served < 5; served++) {
      passed[served]?.[1].served()
      await vi.advanceTimersByTimeAsync(0)
      together.push(passed.length - served - 1)
    }
    expect(together).toEqual([4, 8, 16, 32, 64])
  })

  it('a session that comes late does not overtake, and one that gives up leaves the line', async () => {
    let aheadMs = 0
    const gates = gatesOf({ now: () => performance.now() + aheadMs })
    const choice = one(model('m'))
    entered(gates, choice).refused(BUSY)
    const stop = new AbortController()
    const short = gates.wait(choice, 'r', { withinMs: 500, stop: never() })
    const stopped = gates.wait(choice, 'r', { withinMs: 5000, stop: stop.signal })
    const { stand, passed } = line(gates, choice)
    stand('r')
    stop.abort()
    await vi.advanceTimersByTimeAsync(500)
    expect(await Promise.all([short, stopped])).toEqual([undefined, undefined])
    expect(gates.waiting('m')).toBe(1)
    // The wait is over, but the timer of the line has not fired yet.
    aheadMs = 600
    expect(gates.enter(choice)).toBeUndefined()
    await vi.advanceTimersByTimeAsync(500)
    expect(passed).toHaveLength(1)
    expect(gates.waiting('m')).toBe(0)
  })

  it('the outage is told once, and so is its end', async () => {
    const told: unknown[] = []
    const gates = gatesOf({ told: (provider, news) => told.push([provider, news]) })
    const choice = one(model('m'))
    for (let n = 0; n < 3; n++) entered(gates, choice).refused(BROKEN)
    const { stand, passed } = line(gates, choice)
    stand('r', 3)
    await vi.advanceTimersByTimeAsync(1000)
    passed[0]?.[1].refused(BUSY)
    await vi.advanceTimersByTimeAsync(2000)
    passed[1]?.[1].served()
    expect(told).toMatchObject([
      ['m', { away: { why: 'reset' } }],
      ['m', { backAfterMs: 3000 }],
    ])
  })

  it('a pass counts once', () => {
    const gates = gatesOf()
    const choice = one(model('m'))
    const pass = entered(gates, choice)
    pass.served()
    pass.refused(BUSY)
    pass.leave()
    expect(gates.enter(choice)).toBeDefined()
  })
})

describe('With a fallback', () => {
  const [a, b] = [model('a'), model('b')]
  const choice: Choice = { models: [a, b], afterMs: 30_000 }
  const fail = (gates: Gates, times: number): void => {
    for (let n = 0; n < times; n++) entered(gates, choice).refused(BROKEN)
  }

  it('the second is asked at once when the first refuses for capacity', () => {
    const gates = gatesOf()
    entered(gates, choice).refused(BUSY)
    expect(entered(gates, choice).model).toBe(b)
    expect(gates.heldUp(choice)).toBeUndefined()
  })

  it('the second is asked when the first has been away for long enough, and who stands in line is let through then', async () => {
    const gates = gatesOf()
    fail(gates, 3)
    expect(gates.enter(choice)).toBeUndefined()
    const passed: Model[] = []
    const stand = (): void =>
      void gates.wait(choice, 'r', { withinMs: 60_000, stop: never() }).then((pass) => {
        if (!pass) return
        passed.push(pass.model)
        if (pass.model === a) {
          pass.refused(BROKEN)
          stand()
        }
      })
    stand()
    await vi.advanceTimersByTimeAsync(29_000)
    expect(passed.every((each) => each === a)).toBe(true)
    await vi.advanceTimersByTimeAsync(1001)
    expect(passed.at(-1)).toBe(b)
  })

  it('one session tries the first again when its wait is over, and all go back when it is served', async () => {
    const gates = gatesOf()
    entered(gates, choice).refused(BUSY)
    await vi.advanceTimersByTimeAsync(1000)
    const probe = entered(gates, choice)
    expect([probe.model, entered(gates, choice).model]).toEqual([a, b])
    probe.served()
    expect(entered(gates, choice).model).toBe(a)
  })

  it('a model without credit is passed over for two minutes, and others of its provider are not', async () => {
    const gates = gatesOf()
    entered(gates, choice).spent()
    expect(gates.hasCredit(choice)).toBe(true)
    expect(entered(gates, choice).model).toBe(b)
    expect(entered(gates, one(a)).model).toBe(a)
    entered(gates, choice).spent()
    expect(gates.hasCredit(choice)).toBe(false)
    await vi.advanceTimersByTimeAsync(120_000)
    expect(entered(gates, choice).model).toBe(a)
  })

  it('who waits for both is let through by the one that is back first', async () => {
    const gates = gatesOf()
    entered(gates, choice).refused({ ...BUSY, waitMs: 20_000 })
    entered(gates, choice).refused({ ...BUSY, waitMs: 10_000 })
    expect(gates.heldUp(choice)).toMatchObject({ provider: 'b', nextTryMs: 10_000 })
    const passed = gates.wait(choice, 'r', { withinMs: 30_000, stop: never() })
    await vi.advanceTimersByTimeAsync(10_001)
    expect((await passed)?.model).toBe(b)
    expect(gates.waiting('a')).toBe(0)
  })
})
