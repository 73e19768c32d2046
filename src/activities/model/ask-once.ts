/** Asks the model once, with the step in hand, and turns its answer or its error into the ending of the step. */
import { DISCOVERED, namesDiscovered } from '../../agent/hidden-tools.ts'
import type { SessionTools } from '../../agent/tool-list.ts'
import { waitsWith } from '../../agent/wait-settings.ts'
import type { Completion, ModelDelta } from '../../core/model.ts'
import type { Branch } from '../../protocol/config.ts'
import { idempotencyKey } from '../../protocol/keys.ts'
import type { ModelOutcome } from '../../protocol/steps.ts'
import type { Database } from '../../store/database/database.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import { findWholeSummary } from '../../store/transcript/load-transcript.ts'
import { readValue } from '../../store/transcript/values.ts'
import type { Deps } from '../deps.ts'
import type { Metrics } from '../metrics.ts'
import type { Ending } from '../step/end-step.ts'
import { shutsDown } from '../step/temporal-failures.ts'
import { aboutTurn } from '../tool/execute.ts'
import { askedTools } from '../tool/session-tools.ts'
import { instanceId } from '../tool/kept-instances.ts'
import { askModel } from './ask-model.ts'
import { describeTools } from './describe-tools.ts'
import { canBeShorter, fittingOf, tooLong, tooLongForGood } from './fitting.ts'
import type { Pass } from './gates.ts'
import { toAnswer } from './model-answer.ts'
import type { ModelCall } from './model-call.ts'
import { makePrompt, toMessages, type Prompt, type PromptParts } from './prompt.ts'
import { StreamingCalls } from './streaming-calls.ts'
import { densityOf } from './token-estimate.ts'
import { shownOf, wayOut } from './way-out.ts'
import type { StepWeather } from './weather.ts'

/** Counts a call under the model that was asked last, with the time since then. */
export class Timed {
  readonly #metrics: Metrics
  #model: string
  #began = performance.now()

  constructor(metrics: Metrics, model: string) {
    this.#metrics = metrics
    this.#model = model
  }

  begin(model: string): void {
    this.#model = model
    this.#began = performance.now()
  }

  ms(): number {
    return performance.now() - this.#began
  }

  count(outcome: ModelOutcome): void {
    this.#metrics.model(this.#model, outcome, this.ms())
  }
}

interface Asking {
  claim: Mine
  stop: AbortSignal
  pass: Pass
  weather: StepWeather
  timed: Timed
}

export async function askOnce(deps: Deps, call: ModelCall, asking: Asking): Promise<Ending<ModelOutcome>> {
  const { input, stored, before, question } = call
  const { config, rootId } = stored
  const { sessionId, round, turn } = input
  const { claim, stop, pass, weather, timed } = asking
  timed.begin(pass.model.name)
  const fail = (error: unknown): Ending<ModelOutcome> => {
    const ending = stop.aborted ? stopped(stop, claim) : weather.failed(error, { pass, claim, askedMs: timed.ms() })
    if (ending.kind === 'giveBack') timed.count(ending.result)
    return ending
  }
  if (question) deps.transcripts.append(sessionId, claim.gen, [question])
  let tools: SessionTools
  let shown: SessionTools
  try {
    tools = await askedTools({ agent: deps.agent, sessionId, session: stored, stop })
    shown = await shownTools(deps.db, tools, { sessionId, gen: claim.gen, seq: call.upTo })
  } catch (error) {
    return fail(error)
  }
  const live = deps.live.step(sessionId, input.key, claim.lease)
  const context = aboutTurn({ ...stored, sessionId, messageId: input.messageId })
  const titles = new Map<string, string>()
  const streaming = new StreamingCalls({ tools, titles, live, uses: deps.keptInstances, context })
  let ending: Ending<ModelOutcome> | undefined
  const fitting = await fittingOf(deps.agent.compactionOf(config.profile), pass.model, before)
  let parts: PromptParts = {
    config,
    transcript: before,
    question: question?.message,
    tools: [],
    room: fitting?.room,
    refusals: input.refusals,
  }
  live.started(pass.model.name, round)
  try {
    const specs = await describeTools(shown, context, { stop, log: deps.log })
    for (const { name, displayName } of specs) if (displayName) titles.set(name, displayName)
    parts = { ...parts, tools: specs }
    let prompt = makePrompt(parts)
    if (question && (prompt.full || input.refusals)) {
      const summary = await findWholeSummary(deps.db, { sessionId, gen: claim.gen, seq: input.upTo - 1 })
      if (summary) {
        deps.transcripts.forget(sessionId)
        parts = { ...parts, transcript: { summary, messages: [] } }
        prompt = makePrompt(parts)
      }
    }
    if (prompt.full && !input.asIs) return tooLong(claim, parts.transcript, { refused: false })
    const completion = await complete(call, asking, {
      prompt,
      onDelta(delta) {
        if (delta.type === 'text') live.text(delta.text)
        else if (delta.type === 'reasoning') live.reasoning(delta.text)
        else streaming.take(delta)
      },
    })
    pass.served()
    const density = densityOf(completion.usage.inputTokens, prompt.tokens)
    const answering = {
      deps,
      input,
      claim,
      config,
      rootId,
      tools,
      titles,
      model: call.model,
      chain: call.chain,
      completion,
    }
    return (ending = toAnswer({ ...answering, ...(density !== undefined && { density }) }))
  } catch (error) {
    if (fitting && canBeShorter(error, input, parts)) {
      pass.served()
      return tooLong(claim, parts.transcript, { refused: true })
    }
    const last = { sessionId, gen: claim.gen, seq: input.upTo }
    const out = wayOut(fitting ? tooLongForGood(error) : error, shownOf(parts, before, last))
    const failed = fail(out.error)
    if (!out.refused || failed.kind !== 'giveBack' || failed.result.kind !== 'failed') return failed
    return { ...failed, result: { ...failed.result, refused: true } }
  } finally {
    streaming.end((index, name) =>
      willRun(ending, index, name) ? instanceId(claim.gen, { sessionId, turn, round, index }) : undefined,
    )
    await live.end()
  }
}

/**
 * The tools that the model is shown in this call: all except hidden ones that are not discovered yet. If none is
 * hidden, the store is not asked.
 */
async function shownTools(db: Database, tools: SessionTools, at: Branch): Promise<SessionTools> {
  if (tools.hidden.size === 0) return tools
  const discovered = new Set(namesDiscovered(await readValue(db, at, DISCOVERED)))
  const specs = tools.specs.filter(({ name }) => !tools.hidden.has(name) || discovered.has(name))
  return { ...tools, specs }
}

/** @returns the answer, with the name of its model if that is another one than the session's */
async function complete(
  { input, stored, model, waits, hash }: ModelCall,
  { stop, pass }: Asking,
  { prompt, onDelta }: { prompt: Prompt; onDelta(delta: ModelDelta): void },
): Promise<Completion> {
  const completion = await askModel(pass.model, toMessages(prompt), {
    tools: [...prompt.tools],
    idempotencyKey: idempotencyKey({ sessionId: input.sessionId, key: input.key, inputHash: hash }),
    cacheKey: stored.rootId,
    onDelta,
    stop,
    waits: pass.model === model ? waits : waitsWith(waits, pass.model),
  })
  return pass.model === model ? completion : { ...completion, model: completion.model ?? pass.model.name }
}

/** Whether a call that streamed in is one that the turn will run. */
function willRun(ending: Ending<ModelOutcome> | undefined, index: number, name: string): boolean {
  return ending?.kind === 'settle' && ending.outcome.kind === 'answered' && ending.outcome.calls[index]?.name === name
}

/** A cancel by the user settles the step. Another worker takes it when this one shuts down. */
function stopped(stop: AbortSignal, claim: Mine): Ending<ModelOutcome> {
  return stop.reason === 'cancel'
    ? { kind: 'settle', outcome: { kind: 'cancelled', gen: claim.gen }, writes: {} }
    : { kind: 'retry', error: shutsDown(), failed: false }
}
