/** What a worker counts for Prometheus, beside Temporal's own metrics. Only what this worker settled itself is counted. */
import type { MetricMeter } from '@temporalio/common'
import type { Usage } from '../agent/message.ts'
import type { SessionTools } from '../agent/tool-list.ts'
import type { CallResult, ModelOutcome, ToolOutcome } from '../session/steps.ts'

export interface Metrics {
  /**
   * @param tool a name of few: never one that a model made up
   * @param result without a duration when another than its worker ended the call
   */
  tool(tool: string, result: Pick<CallResult, 'isError' | 'code'> & { durationMs?: number }): void
  model(model: string, outcome: ModelOutcome, durationMs: number): void
  /** An attempt at a model or a tool failed, and there will be another. */
  retried(kind: string): void
  /** Attempts of dead workers were ended. */
  tookOver(steps: number): void
  /** A step whose takers died too often is not run again. */
  quarantined(kind: string): void
  paused(reason: string): void
  /** Pieces of live output that wait to be written. */
  liveQueue(pieces: number): void
}

/** Stands for names that models make up. */
const UNKNOWN_TOOL = '(unknown)'

const SECONDS = 's'
/** Durations reach from a lookup to a tool at its default time-out. */
const BUCKETS = [0.005, 0.02, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

/** What the exporter must know before the meter is made. */
export const HISTOGRAM_BUCKETS: Record<string, number[]> = {
  stello_tool_duration_seconds: BUCKETS,
  stello_model_duration_seconds: BUCKETS,
}

export function createMetrics(meter: MetricMeter): Metrics {
  const tools = meter.createCounter('stello_tool_executions_total', '', 'Tool calls that ended, by tool and outcome')
  const toolTime = meter.createHistogram('stello_tool_duration_seconds', 'float', SECONDS, 'Duration of tool calls')
  const models = meter.createCounter('stello_model_calls_total', '', 'Model calls that ended, by model and outcome')
  const modelTime = meter.createHistogram('stello_model_duration_seconds', 'float', SECONDS, 'Duration of model calls')
  const input = meter.createCounter('stello_input_tokens_total', '', 'Tokens that models were sent')
  const output = meter.createCounter('stello_output_tokens_total', '', 'Tokens that models answered')
  const retries = meter.createCounter(
    'stello_retries_total',
    '',
    'Failed attempts at a model or tool that are repeated',
  )
  const takeovers = meter.createCounter('stello_takeovers_total', '', 'Attempts of dead workers that were ended')
  const quarantines = meter.createCounter(
    'stello_quarantined_steps_total',
    '',
    'Steps that are not run again since their workers died, by kind',
  )
  const pauses = meter.createCounter('stello_pauses_total', '', 'Pauses of sessions, by reason')
  const queue = meter.createGauge('stello_live_queue', 'int', '', 'Pieces of live output that wait to be written')

  const count = (model: string, { inputTokens, outputTokens }: Usage): void => {
    input.add(inputTokens, { model })
    output.add(outputTokens, { model })
  }
  queue.set(0)
  return {
    tool(tool, { isError, code, durationMs }) {
      tools.add(1, { tool, outcome: code ?? (isError ? 'error' : 'success') })
      if (durationMs !== undefined) toolTime.record(durationMs / 1000, { tool })
    },
    model(model, outcome, durationMs) {
      models.add(1, { model, outcome: outcome.kind })
      modelTime.record(durationMs / 1000, { model })
      if (outcome.kind === 'answered') count(model, outcome.usage)
    },
    retried: (kind) => retries.add(1, { kind }),
    tookOver: (steps) => takeovers.add(steps),
    quarantined: (kind) => quarantines.add(1, { kind }),
    paused: (reason) => pauses.add(1, { reason }),
    liveQueue: (pieces) => queue.set(pieces),
  }
}

/** @param timed `untimed` = whoever settled the call did not run it */
export function countCall(
  metrics: Metrics,
  { call, tools }: { call: { name: string }; tools: SessionTools },
  outcome: ToolOutcome,
  timed?: 'untimed',
): void {
  const result = outcome.kind === 'childOpened' ? outcome.result : outcome
  if (result?.kind !== 'settled') return
  const { isError, code, durationMs } = result
  const name = tools.find(call.name) ? call.name : UNKNOWN_TOOL
  metrics.tool(name, { isError, ...(code && { code }), ...(timed ? {} : { durationMs }) })
}
