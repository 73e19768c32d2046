/** The circuit breaker of one provider, with the clock and the dice of the test. Nothing waits here. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Gate, waitAfter, type Refusal, type Ticket } from '../../../src/activities/model/gate.ts'

const BUSY: Refusal = { why: '503', told: true }
const BROKEN: Refusal = { why: 'connection reset', told: false }

/** Closes a gate at time 0. The first wait is 1 s without jitter. */
function closed(refusal: Refusal = BUSY, options: { longestWaitMs?: number } = {}): Gate {
  const gate = new Gate({ random: () => 0, ...options })
  gate.refused(admitted(gate, 0), refusal, 0)
  return gate
}

function admitted(gate: Gate, now: number): Ticket {
  const ticket = gate.admit(now)
  if (!ticket) throw new Error(`the gate is closed at ${now}`)
  return ticket
}

describe('A gate in fine weather', () => {
  it('lets everybody through, and failures with a success in between close it not', () => {
    const gate = new Gate()
    for (let round = 0; round < 10; round++) {
      expect(gate.refused(admitted(gate, round), BROKEN, round)).toBe(false)
      expect(gate.refused(admitted(gate, round), BROKEN, round)).toBe(false)
      gate.served(admitted(gate, round))
    }
    expect(gate.away).toBeUndefined()
  })

  it('is closed by the third failure in a row, and the outage began with the first one', () => {
    const gate = new Gate()
    expect([10, 20, 30].map((now) => gate.refused(admitted(gate, now), BROKEN, now))).toEqual([false, false, true])
    expect(gate.away).toMatchObject({ since: 10, why: 'connection reset' })
    expect(gate.admit(31)).toBeUndefined()
  })

  it.each([
    ['says that it is busy', BUSY],
    ['names a wait', { ...BROKEN, waitMs: 3000 }],
  ])('is closed at once when the provider %s', (_what, refusal) => {
    expect(closed(refusal).admit(1)).toBeUndefined()
  })
})

describe('A closed gate', () => {
  it('lets one probe through when the wait is over, and doubles the wait when that is refused, up to 2 minutes', () => {
    const gate = closed()
    const waits: number[] = []
    for (let now = 0, tries = 0; tries < 10; tries++) {
      const until = gate.nextTry(now)
      expect(gate.admit(until - 1)).toBeUndefined()
      const probe = admitted(gate, until)
      expect(gate.admit(until)).toBeUndefined()
      waits.push(until - now)
      gate.refused(probe, BUSY, (now = until))
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 96, 96, 96].map((seconds) => seconds * 1000))
    expect(waitAfter(50, { random: () => 0.999 })).toBeLessThanOrEqual(120_000)
  })

  it('keeps a wait that the provider has named to the letter, however short or long', () => {
    expect(closed({ ...BUSY, waitMs: 7123 }).nextTry(0)).toBe(7123)
    expect(closed({ ...BUSY, waitMs: 3_600_000 }).nextTry(0)).toBe(3_600_000)
    expect(closed({ ...BUSY, waitMs: 50 }).nextTry(0)).toBe(50)
  })

  it('makes no hammer of a wait of nearly nothing that is named again and again', () => {
    const gate = closed({ ...BUSY, waitMs: 0 })
    gate.refused(admitted(gate, 0), { ...BUSY, waitMs: 0 }, 0)
    expect(gate.nextTry(0)).toBe(2000)
  })

  it('is not kept closed by a wait that no session would wait', () => {
    expect(closed({ ...BUSY, waitMs: 1e12 }, { longestWaitMs: 60_000 }).nextTry(0)).toBe(1000)
  })

  it('waits longer when a request of before is told a longer wait, and not longer for one that only fails', () => {
    const gate = new Gate({ random: () => 0 })
    const [first, second, third] = [admitted(gate, 0), admitted(gate, 0), admitted(gate, 0)]
    gate.refused(first, BUSY, 0)
    gate.refused(second, BUSY, 10)
    expect(gate.nextTry(10)).toBe(1000)
    gate.refused(third, { ...BUSY, waitMs: 5000 }, 20)
    expect(gate.nextTry(20)).toBe(5020)
  })

  it('is not opened by the answer to a request from before it was closed', () => {
    const gate = new Gate({ random: () => 0 })
    const slow = admitted(gate, 0)
    gate.refused(admitted(gate, 0), BUSY, 0)
    expect(gate.served(slow)).toBe(false)
    expect(gate.admit(500)).toBeUndefined()
    const probe = admitted(gate, 1000)
    expect(gate.served(slow)).toBe(false)
    expect(gate.admit(1000)).toBeUndefined()
    expect(gate.served(probe)).toBe(true)
  })

  it('gives the place of a probe that asked nobody to the next one at once', () => {
    const gate = closed()
    gate.left(admitted(gate, 1000), 1001)
    expect(gate.admit(1001)).toMatchObject({ probe: true })
  })
})

describe('A gate whose probe was served', () => {
  it('lets four ask at once, and twice as many after each success, until it no longer counts', () => {
    const gate = closed()
    expect(gate.served(admitted(gate, 1000))).toBe(true)
    expect(gate.away).toBeUndefined()
    const asking: Ticket[] = []
    const fill = (): number => {
      for (let ticket = gate.admit(1000); ticket && asking.length < 1000; ticket = gate.admit(1000)) asking.push(ticket)
      return asking.length
    }
    const together: number[] = []
    for (let served = 0; served < 6; served++) {
      together.push(fill())
      gate.served(asking.pop() as Ticket)
    }
    expect(together).toEqual([4, 8, 16, 32, 64, 1000])
    expect(gate.outage).toBeUndefined()
  })

  it('closes for longer than before when it is refused again', () => {
    const gate = closed()
    gate.served(admitted(gate, 1000))
    expect(gate.refused(admitted(gate, 1001), BUSY, 2000)).toBe(true)
    expect(gate.nextTry(2000)).toBe(4000)
    expect(gate.away).toMatchObject({ since: 0 })
  })
})

it('Whatever happens in whatever order: nobody asks while the gate is closed, and a probe is always alone', () => {
  const happening = fc.record({
    what: fc.constantFrom('admit', 'served', 'refused', 'broken', 'left', 'later'),
    which: fc.nat(20),
    ms: fc.nat(5000),
    waitMs: fc.option(fc.nat(5000), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 300 }), (happenings) => {
      const gate = new Gate()
      const asking: Ticket[] = []
      let now = 0
      for (const { what, which, ms, waitMs } of happenings) {
        if (what === 'later') now += ms
        else if (what === 'admit') {
          const [was, closedUntil] = [gate.away, gate.nextTry(now)]
          const ticket = gate.admit(now)
          if (was && ticket) expect(closedUntil).toBeLessThanOrEqual(now)
          expect(ticket?.probe ?? false).toBe(was !== undefined && ticket !== undefined)
          if (ticket?.probe) expect(gate.admit(now)).toBeUndefined()
          if (ticket) asking.push(ticket)
        } else {
          const [ticket] = asking.splice(which % Math.max(1, asking.length), 1)
          if (!ticket) continue
          if (what === 'served') gate.served(ticket)
          if (what === 'left') gate.left(ticket, now)
          const refusal = { ...(what === 'refused' ? BUSY : BROKEN), ...(waitMs !== undefined && { waitMs }) }
          if (what === 'refused' || what === 'broken') gate.refused(ticket, refusal, now)
        }
        expect(asking.filter(({ probe, epoch }) => probe && epoch === epochOf(gate, now)).length).toBeLessThanOrEqual(1)
      }
      // However it got there, it opens again: nobody is locked out for good.
      for (const ticket of asking) gate.left(ticket, now)
      expect(gate.admit(Math.max(now, gate.nextTry(now)))).toBeDefined()
    }),
  )
})

/** The epoch of the next ticket, from a look that leaves no trace where there is no ticket to be had. */
function epochOf(gate: Gate, now: number): number | undefined {
  const ticket = gate.away ? undefined : gate.admit(now)
  if (ticket) gate.left(ticket, now)
  return ticket?.epoch
}
