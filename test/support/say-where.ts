/**
 * Says in what state the sessions of a failed test are. Without this, a test that waits in vain names only its
 * time-out.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { optionalTsToMs } from '@temporalio/common/lib/time.js'
import { messageOf } from '../../src/core/errors.ts'
import type { Database } from '../../src/store/database/database.ts'

/** The newest ones. Earlier tests of the file have left some too. */
const SESSIONS = 3
const EVENTS = 8
/** The test may have killed a server. */
const WITHIN_MS = 10_000

interface Standing {
  id: string
  pause: object | null
  steps: object[] | null
}

/** Sessions that are paused, or whose turn has not ended, with their steps that have not ended. */
const STANDING = `
  select s.id, s.pause, (
    select jsonb_agg(jsonb_build_object('key', p.step_key, 'lease', p.lease, 'owner', p.owner, 'waiting', p.waiting))
    from steps p where p.session_id = s.id and p.gen = s.gen and p.outcome is null) as steps
  from sessions s
  where s.closed_at is null
    and (s.pause is not null or s.run_id is null or exists (select from turns t where t.session_id = s.id and t.status = 'open'))
  order by s.created_at desc limit ${SESSIONS}`

export function sayWhere(db: Database, temporal: Client, warnings: readonly string[]): Promise<string> {
  const late = delay(WITHIN_MS, 'Where its sessions stand is unknown: a server does not answer.', { ref: false })
  return Promise.race([late, told(db, temporal, warnings).catch(messageOf)])
}

async function told(db: Database, temporal: Client, warnings: readonly string[]): Promise<string> {
  const { rows } = await db.pool.query<Standing>(STANDING)
  const sessions = await Promise.all(
    rows.map(async ({ id, ...row }) => {
      const inTemporal = await tellRun(temporal, id).catch((error: unknown) => [`in Temporal: ${messageOf(error)}`])
      return [`session ${id}: ${JSON.stringify(row)}`, ...inTemporal]
    }),
  )
  const warned = warnings.slice(-EVENTS).map((line) => `warned: ${line}`)
  return ['Where its sessions stand:', ...sessions.flat(), ...warned].join('\n  ')
}

async function tellRun(temporal: Client, id: string): Promise<string[]> {
  const handle = temporal.workflow.getHandle(id)
  const [{ status, raw }, { events }] = await Promise.all([handle.describe(), handle.fetchHistory()])
  const pending = (raw.pendingActivities ?? []).map((one) => {
    const [begun, heard] = [one.lastStartedTime, one.lastHeartbeatTime].map((time) => clock(optionalTsToMs(time)))
    const failed = one.lastFailure?.message ?? 'nothing'
    return `${one.activityType?.name}: state ${one.state}, attempt ${one.attempt}, begun ${begun}, heard ${heard}, at ${one.lastWorkerIdentity}, failed by ${failed}`
  })
  const last = (events ?? []).slice(-EVENTS).map((event) => {
    const [what = ''] = Object.keys(event).filter(
      (key) => key.endsWith('Attributes') && event[key as keyof typeof event],
    )
    return `${clock(optionalTsToMs(event.eventTime))} ${what.replace('EventAttributes', '')}`
  })
  return [`in Temporal: ${status.name}`, ...pending, ...last].map((line) => `  ${line}`)
}

function clock(ms: number | undefined): string {
  return ms === undefined ? 'never' : new Date(ms).toISOString().slice(11, 23)
}
