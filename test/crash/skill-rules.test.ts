/**
 * A worker gets SIGKILL while it stores that a skill was loaded. Its rules hold for the rest of the turn, whether or not the
 * last statement of the dead worker counts, and no longer.
 */
import { expect, it } from 'vitest'
import { lastResults, obedientInRounds } from '../seeds/obedient.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import { eventOf, eventsUntil } from '../support/session-fixture.ts'

const stage = useCrashStage({ script: obedientInRounds })

it.each(['letThrough', 'drop'] as const)(
  'what a skill allows runs once and unasked after a kill (%s)',
  async (fate) => {
    const before = stage.doors.knocks.length
    const worker = await stage.startWorker({ skills: true })
    const session = await stage.session()
    const hold = await stage.holds.hold({ session: session.id, step: 't1.0.0', moment: 'settle' })
    const turn = await session.send(
      JSON.stringify([[{ name: 'Skill', arguments: { skill: 'booking' } }], [{ name: 'book' }]]),
    )
    await hold.reached()
    await worker.kill()
    await hold[fate]()
    await stage.startWorker({ skills: true })
    await turn.result()
    expect(stage.doors.knocks.slice(before).map((knock) => knock.tool)).toEqual(['book'])
    const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
    const decided = events.flatMap(({ type, data }) => (type === 'permission.decided' ? [data] : []))
    expect(decided).toMatchObject([
      { name: 'Skill', decision: 'allow', rule: 'Skill' },
      { name: 'book', decision: 'allow', rule: 'book', why: 'skill booking' },
    ])

    const next = await session.send(JSON.stringify([[{ name: 'book' }]]))
    await session.deny((await eventOf(session, 'pending.opened')).data.id)
    await next.result()
    expect(await lastResults(session)).toEqual([expect.stringContaining('did not permit "book"')])
    expect(stage.doors.knocks.slice(before)).toHaveLength(1)
    await stage.killWorkers()
  },
)
