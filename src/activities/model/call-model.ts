/**
 * One model call: reads the transcript, asks the model, and commits its answer with everything that follows from it.
 */
import { askModel } from './ask-model.ts'
import type { SessionTools } from '../../agent/tool-list.ts'
import { waitsOfTry, waitsWith } from '../../agent/wait-settings.ts'
import type { CallModelInput, ModelOutcome } from '../../protocol/steps.ts'
import { findWholeSummary } from '../../store/load-transcript.ts'
import { getMessage } from '../../store/message-bodies.ts'
import { idempotencyKey } from '../../protocol/keys.ts'
import { inputHash, nextRecord } from '../../store/hashes.ts'
import { currentAttempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'
import { describeTools } from './describe-tools.ts'
import { askedTools } from '../tool/session-tools.ts'
import { aboutTurn } from '../tool/execute.ts'
import { shutsDown } from '../step/failures.ts'
import { toAnswer } from './model-answer.ts'
import { shownTools } from './shown-tools.ts'
import { canBeShorter, fittingOf, tooLong, tooLongForGood } from './fitting.ts'
import { makePrompt, toMessages, type PromptParts } from './prompt.ts'
import { densityOf } from './token-estimate.ts'
import type { Ending } from '../step/end-step.ts'
import { runStep, type StepWork } from '../step/run-step.ts'
import { type Mine } from '../../store/claim.ts'
import { StreamingCalls } from './streaming-calls.ts'
import { shownOf, wayOut } from './way-out.ts'
import { useId } from '../tool/tool-uses.ts'
import type { Pass } from './gates.ts'
import { choiceOf, pausingEndings, StepWeather, type Held } from './weather.ts'

export async function callModel(deps: Deps, input: CallModelInput): Promise<ModelOutcome> {
  const attempt = currentAttempt(deps, input)
  const { sessionId, gen, round, turn } = input
  const stored = await deps.configs.read(deps.db, sessionId)
  const { config, rootId } = stored
  const text = input.opening && (await openingText(deps, sessionId, input.opening))
  if (input.opening && text === undefined) {
    return { kind: 'duplicate', gen, reason: `message ${input.opening.messageId} has no text` }
  }
  const upTo = text === undefined ? input.upTo : input.upTo - 1
  const before = await deps.transcripts.read(deps.db, sessionId, gen, upTo, { leftOut: input.leftOut })
  const question =
    text === undefined ? undefined : nextRecord(before.chain, input.upTo, { role: 'user', content: text })
  const chain = question?.chain ?? before.chain
  const model = deps.agent.model(config.model)
  const stated = deps.agent.waitsOf(config.profile, config.model)
  const waits = input.tries === undefined ? stated : waitsOfTry(stated, model)
  const hash = inputHash('model', chain)
  let started = performance.now()
  const count = (outcome: ModelOutcome): void => deps.metrics.model(model.name, outcome, performance.now() - started)

  const weather = new StepWeather(deps, attempt, input, { choice: choiceOf(model), waits })

  async function run(claim: Mine, stop: AbortSignal, pass: Pass): Promise<Ending<ModelOutcome>> {
    started = performance.now()
    const fail = (error: unknown): Ending<ModelOutcome> => {
      const ending = stop.aborted
        ? stopped(stop, claim)
        : weather.failed(error, pass, claim, performance.now() - started)
      if (ending.kind === 'giveBack') count(ending.result)
      return ending
    }
    if (question) deps.transcripts.append(sessionId, claim.gen, [question])
    let tools: SessionTools
    let shown: SessionTools
    try {
      tools = await askedTools({ agent: deps.agent, sessionId, session: stored, stop })
      shown = await shownTools(deps.db, tools, { sessionId, gen: claim.gen, seq: upTo })
    } catch (error) {
      return fail(error)
    }
    const live = deps.live.step(sessionId, input.key, claim.lease)
    const context = aboutTurn({ ...stored, sessionId, messageId: input.messageId })
    const titles = new Map<string, string>()
    const streaming = new StreamingCalls({ tools, titles, live, uses: deps.toolUses, context })
    let ending: Ending<ModelOutcome> | undefined
    const fitting = await fittingOf(deps.agent, config, pass.model, before)
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
      const completion = await askModel(
        pass.model,
        toMessages(prompt),
        {
          tools: [...prompt.tools],
          idempotencyKey: idempotencyKey(sessionId, input.key, hash),
          cacheKey: rootId,
          onDelta(delta) {
            if (delta.type === 'text') live.text(delta.text)
            else if (delta.type === 'reasoning') live.reasoning(delta.text)
            else streaming.take(delta)
          },
        },
        { stop, waits: pass.model === model ? waits : waitsWith(waits, pass.model) },
      )
      pass.served()
      const by = completion.model ?? pass.model.name
      const told = pass.model === model ? completion : { ...completion, model: by }
      const density = densityOf(completion.usage.inputTokens, prompt.tokens)
      const answering = { deps, input, claim, config, rootId, tools, titles, model, chain, completion: told }
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
        willRun(ending, index, name) ? useId(claim.gen, { sessionId, turn, round, index }) : undefined,
      )
      await live.end()
    }
  }

  const work: Omit<StepWork<ModelOutcome | Held>, 'run'> = {
    step: {
      key: input.key,
      kind: 'model',
      name: model.name,
      inputHash: hash,
      durable: question !== undefined,
      ...(question && input.opening && { opening: { turn, messageId: input.opening.messageId, record: question } }),
    },
    ...pausingEndings(model),
    settled: (outcome) => void (outcome.kind !== 'held' && count(outcome)),
  }
  const result = await weather.pass(rootId, (entered) =>
    runStep<ModelOutcome | Held>(deps, attempt, {
      ...work,
      run: async (claim, stop) =>
        entered ? weather.with(entered, claim, (pass) => run(claim, stop, pass)) : weather.held(claim),
    }),
  )
  if ('kind' in result) return result
  return 'outcome' in result ? result.outcome : { kind: 'duplicate', gen: result.gen }
}

async function openingText(
  deps: Deps,
  sessionId: string,
  opening: { messageId: string; text?: string },
): Promise<string | undefined> {
  return opening.text ?? (await getMessage(deps.db, sessionId, opening.messageId))
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
