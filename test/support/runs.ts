/** The runs of a session's workflow. Each began with the state that the one before it left. */
import type { temporal } from '@temporalio/proto'
import { defaultPayloadConverter } from '@temporalio/common'
import type { SessionHandle } from '../../src/client/index.ts'
import type { SessionInput } from '../../src/protocol/session-input.ts'
import type { SessionState } from '../../src/session/state.ts'
import type { Fixture } from './session-fixture.ts'

export interface Run {
  runId: string
  history: temporal.api.history.v1.IHistory
  events: temporal.api.history.v1.IHistoryEvent[]
  /** Bytes and events of the whole history, as the server counts them. */
  bytes: number
  /** What the run was started with. */
  input: SessionInput<SessionState>
}

export async function runIdsOf({ db }: Pick<Fixture, 'db'>, { id }: SessionHandle): Promise<string[]> {
  const { rows } = await db.pool.query<{ run_id: string }>('select run_id from runs where session_id = $1', [id])
  return rows.map((row) => row.run_id)
}

/** Oldest first. */
export async function runsOf(fixture: Pick<Fixture, 'client' | 'db'>, session: SessionHandle): Promise<Run[]> {
  const runs: Run[] = []
  for (const runId of await runIdsOf(fixture, session)) {
    const workflow = fixture.client.temporal.workflow.getHandle(session.id, runId)
    const { historySize = 0 } = await workflow.describe()
    const history = await workflow.fetchHistory()
    const events = history.events ?? []
    runs.push({ runId, history, events, bytes: historySize, input: inputOf(events[0]) })
  }
  return runs.sort((a, b) => began(a) - began(b))
}

function began({ events }: Run): number {
  const { seconds, nanos } = events[0]?.eventTime ?? {}
  return Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6
}

function inputOf(started: temporal.api.history.v1.IHistoryEvent | undefined): SessionInput<SessionState> {
  const [payload] = started?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
  if (!payload) throw new Error('the history does not begin with an input')
  return defaultPayloadConverter.fromPayload(payload)
}
