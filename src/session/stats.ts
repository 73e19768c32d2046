/** What a session counts: tokens, and per tool how often, how well, how long. */
import type { Usage } from '../core/message.ts'
import { ERRORS_LIMIT, STATS_LIMIT, type SessionState } from './state.ts'
import { type ToolStats } from '../protocol/views.ts'
import type { CallResult } from '../protocol/steps.ts'

const OTHER = '(other)'

export function addUsage(state: SessionState, usage: Usage): SessionState {
  const { totals } = state
  return {
    ...state,
    totals: {
      ...totals,
      modelCalls: totals.modelCalls + 1,
      inputTokens: totals.inputTokens + usage.inputTokens,
      outputTokens: totals.outputTokens + usage.outputTokens,
    },
  }
}

export function addToolResult(state: SessionState, toolName: string, result: CallResult): SessionState {
  const name = Object.hasOwn(state.stats, toolName) || Object.keys(state.stats).length < STATS_LIMIT ? toolName : OTHER
  const before: ToolStats = (Object.hasOwn(state.stats, name) && state.stats[name]) || {
    toolName: name,
    executionCount: 0,
    successCount: 0,
    failureCount: 0,
    totalDuration: 0,
  }
  const after: ToolStats = {
    toolName: name,
    executionCount: before.executionCount + 1,
    successCount: before.successCount + (result.isError ? 0 : 1),
    failureCount: before.failureCount + (result.isError ? 1 : 0),
    totalDuration: before.totalDuration + result.durationMs,
    ...addError(state, before.errors, result),
  }
  const totals = { ...state.totals, toolCalls: state.totals.toolCalls + 1 }
  return { ...state, totals, stats: { ...state.stats, [name]: after } }
}

function addError(state: SessionState, before: ToolStats['errors'], result: CallResult): Pick<ToolStats, 'errors'> {
  const name = result.isError ? (result.code ?? result.error) : undefined
  if (name === undefined || (!Object.hasOwn(before ?? {}, name) && kindsOf(state) >= ERRORS_LIMIT)) {
    return before ? { errors: before } : {}
  }
  const known = new Map(Object.entries(before ?? {}))
  return { errors: Object.fromEntries(known.set(name, (known.get(name) ?? 0) + 1)) }
}

function kindsOf({ stats }: SessionState): number {
  return Object.values(stats).reduce((kinds, { errors = {} }) => kinds + Object.keys(errors).length, 0)
}
