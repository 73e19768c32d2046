/** How a session shows itself: what its queries answer. */
import type { Pause, PendingRef, StopReason } from './steps.ts'

export type Status = 'idle' | 'running' | 'waiting' | 'paused' | 'closed'

export interface Totals {
  turns: number
  modelCalls: number
  toolCalls: number
  inputTokens: number
  outputTokens: number
}

export interface ToolStats {
  toolName: string
  executionCount: number
  successCount: number
  failureCount: number
  /** Milliseconds. */
  totalDuration: number
  /** How often it failed so: a code of this project (`TOOL_TIMEOUT`), or what the tool calls it. */
  errors?: Record<string, number>
}

export type ToolStatsView = ToolStats & { averageDuration: number }

/** `title`: the tool's name for people. */
type CallView = { name: string; title?: string; preview: string; status: string }

export interface SessionView {
  sessionId: string
  label: string
  status: Status
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
