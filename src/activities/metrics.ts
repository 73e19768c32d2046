/** The metrics of a worker for Prometheus, beside Temporal's own metrics. A worker counts only what it settled itself. */
import type { MetricCounter, MetricGauge, MetricMeter } from '@temporalio/common'
import type { Usage } from '../core/message.ts'
import type { StelloAgent } from '../agent/agent.ts'
import type { PartSource } from '../protocol/config.ts'
import { sessionTools, type SessionTools } from '../agent/tool-list.ts'
import { SESSION_STATUSES } from '../protocol/views.ts'
import type { CallResult, ModelOutcome, ToolOutcome } from '../protocol/steps.ts'
import { PAUSE_REASONS } from '../core/errors.ts'
import { PENDING_KINDS } from '../protocol/pending.ts'
import { providerOf } from './model/gates.ts'
import type { SessionCounts } from '../store/sessions/session-counts.ts'

export interface Metrics {
  /**
   * @param tool one of a few known names: never a name that a model made up
   * @param result has no duration if the call was not ended by the worker that ran it
   */
  tool(tool: string, result: Pick<CallResult, 'isError' | 'code'> & { durationMs?: number }): void
  model(model: string, outcome: ModelOutcome, durationMs: number): void
  /** A model has summarised older messages. */
  compacted(model: string, usage: Usage, durationMs: number): void
  /** An attempt at a model or a tool failed, and another attempt follows. */
  retried(kind: string): void
  /** Attempts of dead workers were ended. */
  tookOver(steps: number): void
  /** A step whose workers died too often is not run again. */
  quarantined(kind: string): void
  /** A working folder is gone, because no worker of its host lives. */
  workspaceLost(): void
  /** A provider of models has begun to be away, or answers again. */
  providerAway(provider: string, away: boolean): void
  paused(reason: string): void
  /**
   * @param lost how many more connections with this worker's lock were lost
   * @param held whether any connection has it now
   */
  liveness(lost: number, held: boolean): void
  /** A step was given back because its session belongs to another store. */
  foreign(): void
  /** Pieces of live output that wait to be written. */
  liveQueue(pieces: number): void
  /** The agent's sessions by state, as the store has them. */
  sessions(counts: SessionCounts): void
}

/**
 * Names that will be counted. Each counter begins with 0 before the first event, so that Prometheus sees the first
 * event as an increase.
 */
export interface Countable {
  /** Names of tools. */
  tools: readonly string[]
  /** Names of models. */
  models: readonly string[]
  /** Names of their providers. */
  providers: readonly string[]
}

/** Stands for names that models make up. */
const UNKNOWN_TOOL = '(unknown)'

const SECONDS = 's'
/** From the time of a lookup to the default time-out of a tool. */
const BUCKETS = [0.005, 0.02, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

/** The exporter needs these before the meter is made. */
export const HISTOGRAM_BUCKETS: Record<string, number[]> = {
  stello_tool_duration_seconds: BUCKETS,
  stello_model_duration_seconds: BUCKETS,
}

const MODEL_OUTCOMES = ['answered', 'cancelled', 'failed', 'compacted'] as const
const STEP_KINDS = ['model', 'tool', 'child', 'hook'] as const
const OPEN_STATES = SESSION_STATUSES.filter((status) => status !== 'closed')

/** @param countable unset: a counter appears with its first event */
export function createMetrics(
  meter: MetricMeter,
  countable: Countable = { tools: [], models: [], providers: [] },
): Metrics {
  return { ...callMetrics(meter, countable), ...workerMetrics(meter, countable), ...sessionMetrics(meter) }
}

type CallMetrics = Pick<Metrics, 'tool' | 'model' | 'compacted' | 'retried' | 'quarantined'>

function callMetrics(meter: MetricMeter, countable: Countable): CallMetrics {
  const counter = counterOf(meter)
  const tools = counter('stello_tool_executions_total', 'Tool calls that ended, by tool and outcome')
  const toolTime = meter.createHistogram('stello_tool_duration_seconds', 'float', SECONDS, 'Duration of tool calls')
  const models = counter('stello_model_calls_total', 'Model calls that ended, by model and outcome')
  const modelTime = meter.createHistogram('stello_model_duration_seconds', 'float', SECONDS, 'Duration of model calls')
  const input = counter('stello_input_tokens_total', 'Tokens that models were sent')
  const output = counter('stello_output_tokens_total', 'Tokens that models answered')
  const retries = counter('stello_retries_total', 'Failed attempts at a model or tool that are repeated')
  const quarantines = counter(
    'stello_quarantined_steps_total',
    'Steps that are not run again since their workers died, by kind',
  )
  const count = (model: string, { inputTokens, outputTokens }: Usage): void => {
    input.add(inputTokens, { model })
    output.add(outputTokens, { model })
  }
  for (const tool of [...countable.tools, UNKNOWN_TOOL])
    for (const outcome of ['success', 'error']) tools.add(0, { tool, outcome })
  for (const model of countable.models) {
    for (const outcome of MODEL_OUTCOMES) models.add(0, { model, outcome })
    count(model, { inputTokens: 0, outputTokens: 0 })
  }
  for (const kind of STEP_KINDS) retries.add(0, { kind })
  for (const kind of STEP_KINDS) quarantines.add(0, { kind })
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
    compacted(model, usage, durationMs) {
      models.add(1, { model, outcome: 'compacted' })
      modelTime.record(durationMs / 1000, { model })
      count(model, usage)
    },
    retried: (kind) => retries.add(1, { kind }),
    quarantined: (kind) => quarantines.add(1, { kind }),
  }
}

type WorkerMetrics = Pick<Metrics, 'tookOver' | 'workspaceLost' | 'providerAway' | 'liveness' | 'foreign' | 'liveQueue'>

function workerMetrics(meter: MetricMeter, { providers }: Countable): WorkerMetrics {
  const counter = counterOf(meter)
  const takeovers = counter('stello_takeovers_total', 'Attempts of dead workers that were ended')
  const lostWorkspaces = counter('stello_workspaces_lost_total', 'Working folders that were lost with their hosts')
  const losses = counter('stello_liveness_losses_total', 'Connections that said that this worker lives, and were lost')
  const held = meter.createGauge('stello_liveness_held', 'int', '', '1 while a connection says that this worker lives')
  const foreign = counter('stello_foreign_steps_total', 'Steps given back since their session belongs to another store')
  const outages = counter('stello_provider_outages_total', 'Outages of providers of models, by provider')
  const away = meter.createGauge('stello_provider_away', 'int', '', '1 while this worker waits for the provider')
  const queue = meter.createGauge('stello_live_queue', 'int', '', 'Pieces of live output that wait to be written')
  for (const each of [takeovers, lostWorkspaces, losses, foreign]) each.add(0)
  queue.set(0)
  for (const provider of providers) {
    outages.add(0, { provider })
    away.set(0, { provider })
  }
  return {
    tookOver: (steps) => takeovers.add(steps),
    workspaceLost: () => lostWorkspaces.add(1),
    providerAway(provider, isAway) {
      if (isAway) outages.add(1, { provider })
      away.set(isAway ? 1 : 0, { provider })
    },
    liveness(lost, isHeld) {
      losses.add(lost)
      held.set(isHeld ? 1 : 0)
    },
    foreign: () => foreign.add(1),
    liveQueue: (pieces) => queue.set(pieces),
  }
}

function sessionMetrics(meter: MetricMeter): Pick<Metrics, 'paused' | 'sessions'> {
  const pauses = counterOf(meter)('stello_pauses_total', 'Pauses of sessions, by reason')
  const sessions = meter.createGauge('stello_sessions', 'int', '', 'Open sessions of the agent, by state')
  const paused = meter.createGauge('stello_paused_sessions', 'int', '', 'Paused sessions of the agent, by reason')
  const pending = meter.createGauge('stello_pending_items', 'int', '', 'What waits for a person, by kind')
  const oldest = meter.createGauge('stello_oldest_wait_seconds', 'float', SECONDS, 'How long the oldest has waited')
  const set = (
    gauge: MetricGauge,
    label: string,
    { known, counts }: { known: readonly string[]; counts: ReadonlyMap<string, number> },
  ): void => {
    for (const name of new Set([...known, ...counts.keys()])) gauge.set(counts.get(name) ?? 0, { [label]: name })
  }
  for (const reason of PAUSE_REASONS) pauses.add(0, { reason })
  return {
    paused: (reason) => pauses.add(1, { reason }),
    sessions(counts) {
      set(sessions, 'state', { known: OPEN_STATES, counts: counts.states })
      set(paused, 'reason', { known: PAUSE_REASONS, counts: counts.pauses })
      set(pending, 'kind', { known: PENDING_KINDS, counts: counts.pending })
      oldest.set(counts.oldest.paused, { for: 'resume' })
      oldest.set(counts.oldest.pending, { for: 'person' })
    },
  }
}

function counterOf(meter: MetricMeter): (name: string, description: string) => MetricCounter {
  return (name, description) => meter.createCounter(name, '', description)
}

/** The tools and models that an agent's sessions may use, under any profile. */
export function countableOf(agent: StelloAgent): Countable {
  const sources: PartSource[] = ['agent', ...Array.from(agent.profiles.keys(), (name) => `profile:${name}` as const)]
  const models = sources.map((source) => agent.model(source)).flatMap((model) => model.fallback?.models ?? [model])
  return {
    tools: [...new Set(sources.flatMap((tools) => sessionTools(agent, { tools }).names))],
    models: [...new Set(models.map(({ name }) => name))],
    providers: [...new Set(models.map(providerOf))],
  }
}

/** @param how.untimed the code that settled the call did not run it */
export function countCall(
  metrics: Metrics,
  { call, tools }: { call: { name: string }; tools: SessionTools },
  { outcome, untimed }: { outcome: ToolOutcome; untimed?: true },
): void {
  const result = outcome.kind === 'childOpened' ? outcome.result : outcome
  if (result?.kind !== 'settled') return
  const { isError, code, durationMs } = result
  const name = tools.find(call.name) ? call.name : UNKNOWN_TOOL
  metrics.tool(name, { isError, ...(code && { code }), ...(untimed ? {} : { durationMs }) })
}
