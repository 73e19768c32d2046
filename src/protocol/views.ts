/** What the queries of a session answer. */
import type { StopReason } from './steps.ts'
import type { Pause } from '../core/pause.ts'
import type { PendingRef } from './pending.ts'

/** What a session can be doing, as lists and filters name it. */
export const SESSION_STATUSES = ['idle', 'running', 'waiting', 'paused', 'closed'] as const

/** What a session is doing. `waiting`: all that goes on in it waits for its forks, for a person, or for its model's provider. */
export type SessionStatus = (typeof SESSION_STATUSES)[number]

export interface Totals {
  turns: number
  modelCalls: number
  toolCalls: number
  inputTokens: number
  outputTokens: number
}

/** How often a tool was called, with what success, and how long that took. */
export interface ToolStats {
  /** The tool's name. */
  toolName: string
  /** Calls that ended. */
  executionCount: number
  /** Of these: without an error. */
  successCount: number
  /** Of these: with an error. */
  failureCount: number
  /** Milliseconds. */
  totalDuration: number
  /** How often it failed so: a code of this project (`TOOL_TIMEOUT`), or what the tool calls it. */
  errors?: Record<string, number>
}

/** How often a tool was called, with what success, and how long it took on average, in milliseconds. */
export type ToolStatsView = ToolStats & { averageDuration: number }

/** `title`: the tool's name for people. */
type CallView = { name: string; title?: string; preview: string; status: string }

export interface SessionView {
  sessionId: string
  label: string
  status: SessionStatus
  pause?: Pause
  turn?: { n: number; round: number; phase: string; calls: CallView[] }
  queued: number
  turns: number
  records: number
  totals: Totals
  lastAnswer: string
  lastStop?: StopReason
}

/** A call that waits for a person; the store holds the whole item. */
export interface PendingView extends PendingRef {
  turn: number
  /** The tool's name. */
  name: string
  /** Its name for people. */
  title?: string
  callId: string
  /** The beginning of the call's arguments. */
  preview: string
}
