/** What the activities are made with; the worker composes it. */
import type { Client } from '@temporalio/client'
import type { StelloAgent } from '../agent/agent.ts'
import type { Database } from '../store/database.ts'
import type { Liveness } from '../store/liveness.ts'
import type { News } from '../store/notifier.ts'
import type { Tool, ToolContext } from '../tool/tool.ts'
import type { TranscriptCache } from '../store/transcript-cache.ts'
import type { LastChance } from './step/last-chance.ts'
import type { LiveWriter } from './live-writer.ts'
import type { Metrics } from './metrics.ts'
import type { Running } from './step/in-flight.ts'
import type { SessionConfigs } from './session/session-configs.ts'
import type { ToolUses } from './tool/tool-uses.ts'

/** Whether a call may run; `ask`: a person decides, who reads the question. */
export type Permission = { kind: 'allow' } | { kind: 'deny'; reason: string } | { kind: 'ask'; question: string }

/** Asked with checked arguments, perhaps more than once for a call. */
export type Permit = (tool: Tool, args: unknown, ctx: ToolContext) => Promise<Permission>

/** Told of every step before any code of the user's runs for it: what is in hand can be named when the loop stands still. */
export interface StepWatch {
  /** @param id of the step and its lease @param name of its tool or model, as people know it */
  begun(id: string, name: string): void
  ended(id: string): void
}

export interface Deps {
  agent: StelloAgent
  db: Database
  /** Temporal, for looking at other sessions' workflows. */
  client: Client
  /** Random for each worker process; its liveness lock says whether the process lives (durability 4). */
  bootId: string
  liveness: Pick<Liveness, 'held'>
  transcripts: TranscriptCache
  configs: SessionConfigs
  live: LiveWriter
  running: Running
  /** Aborted when the worker stops and the time is over that its running steps have. */
  stopping: AbortSignal
  lastChance: LastChance
  stepWatch: StepWatch
  toolUses: ToolUses
  /** Asked before each tool of the user's runs. Nothing sets it yet. */
  permit?: Permit
  metrics: Metrics
  /** Told after each commit that other processes may wait for. */
  notify(sessionId: string, news?: News): void
  log: { warn(message: string, meta?: Record<string, unknown>): void }
}
