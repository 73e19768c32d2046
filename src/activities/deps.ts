/** Everything that the activities need. The worker composes it. */
import type { Client } from '@temporalio/client'
import type { StelloAgent } from '../agent/agent.ts'
import type { Database } from '../store/database/database.ts'
import type { Liveness } from '../store/ledger/liveness.ts'
import type { News } from '../store/database/notifier.ts'
import type { TranscriptCache } from '../store/transcript/transcript-cache.ts'
import type { Gates } from './model/gates.ts'
import type { LastChance } from './step/last-chance.ts'
import type { LiveWriter } from './live-writer.ts'
import type { Metrics } from './metrics.ts'
import type { Running } from './step/in-flight.ts'
import type { SessionConfigs } from './session/session-configs.ts'
import type { KeptInstances } from './tool/kept-instances.ts'

/**
 * Learns about every step before user code runs for it. So the running steps can be named when the event loop is
 * blocked.
 */
export interface StepWatch {
  /** @param id of the step and its lease @param name of its tool or model, as people know it */
  begun(id: string, name: string): void
  ended(id: string): void
}

export interface Deps {
  agent: StelloAgent
  db: Database
  /** A client of Temporal, to look at workflows of other sessions. */
  client: Client
  /** Random for each worker process; its liveness lock says whether the process lives (durability 4). */
  bootId: string
  liveness: Pick<Liveness, 'held'>
  transcripts: TranscriptCache
  configs: SessionConfigs
  live: LiveWriter
  running: Running
  /** Aborts when the worker stops and the time for its running steps is over. */
  stopping: AbortSignal
  lastChance: LastChance
  gates: Gates
  stepWatch: StepWatch
  keptInstances: KeptInstances
  /** The host on which this worker runs. Unset: its agent has no working folders. */
  host?: string
  metrics: Metrics
  /** To be called after each commit that other processes may wait for. */
  notify(sessionId: string, news?: News): void
  log: { warn(message: string, meta?: Record<string, unknown>): void }
}
