/** What a rewind leaves behind. The place of an event decides, never the way its key is written. */
import { expect, it } from 'vitest'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { type RunRef } from '../../src/store/ledger/abandon-future.ts'
import type { EventPlace } from '../../src/protocol/events.ts'
import { openSession, placeAt, someEvent } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { fieldOf, readEvents } from '../support/events.ts'

const at = useDatabase()

let told = 0
/** The keys say nothing here. They do not even have the usual form. */
async function tell(run: RunRef, ...places: (readonly [string, EventPlace])[]): Promise<void> {
  const events = places.map(([type, place]) => someEvent({ key: `key ${told++}`, at: place, type }))
  await announceFacts(at.db, run, { key: 'a1', writes: { events } })
}

const typesOf = async ({ sessionId }: RunRef): Promise<string[]> =>
  (await readEvents(at.db, sessionId, 0)).map(({ type }) => type)

it('a reset inside a turn leaves behind the events of its later rounds, of its end, of later turns and of later announcements', async () => {
  const run = await openSession(at.db)
  await tell(
    run,
    ['round 1', { turn: 2, round: 1 }],
    ['round 2', { turn: 2, round: 2 }],
    ['end of turn 1', { turn: 1 }],
    ['end of turn 2', { turn: 2 }],
    ['turn 3', { turn: 3, round: 0 }],
    ['announcement 3', { told: 3 }],
    ['announcement 4', { told: 4 }],
    ['fork of a client', { apart: true }],
  )
  await resolveRun(at.db, { ...run, runId: 'reset', turn: 2, place: { seq: 4, told: 3, round: 1 } })
  expect(await typesOf(run)).toEqual([
    'round 1',
    'end of turn 1',
    'announcement 3',
    'fork of a client',
    'session.rewound',
  ])
})

it('a reset between turns keeps the end of the last one', async () => {
  const run = await openSession(at.db)
  await tell(run, ['end of turn 1', { turn: 1 }], ['turn 2', { turn: 2, round: 0 }])
  await resolveRun(at.db, { ...run, runId: 'reset', turn: 1, place: { seq: 2, told: 0 } })
  expect(await typesOf(run)).toEqual(['end of turn 1', 'session.rewound'])
})

it('a reset of a workflow that was started anew leaves the announcements of earlier workflows alone', async () => {
  const run = await openSession(at.db)
  await tell(run, ['announcement 7 of the first', { told: 7 }])
  const started = { ...run, runId: 'started', fresh: true, place: placeAt(0) } as const
  await resolveRun(at.db, started)
  await tell(started, ['announcement 1', { told: 1 }], ['announcement 2', { told: 2 }])
  await resolveRun(at.db, { ...run, runId: 'reset', gen: 1, turn: 0, place: { seq: 0, told: 1 } })
  expect(await typesOf(run)).toEqual([
    'announcement 7 of the first',
    'session.restarted',
    'announcement 1',
    'session.rewound',
  ])
})

it('a second reset, to before the first, leaves the first reset behind too', async () => {
  const run = await openSession(at.db)
  await resolveRun(at.db, { ...run, runId: 'reset', turn: 1, place: { seq: 2, told: 0 } })
  await resolveRun(at.db, { ...run, runId: 'reset again', turn: 1, place: { seq: 2, told: 0 } })
  const events = await readEvents(at.db, run.sessionId, 0)
  expect(events.map(({ type, data }) => [type, fieldOf(data, 'generation')])).toEqual([['session.rewound', 2]])
})
