/**
 * Prepares a child session for a call of `stello_create_session` or `new_task`. The child's row, its first records and
 * the call's result are committed together (for a task: the wait for the result). The workflow then starts the child.
 */
import { StelloError, isStelloError } from '../../core/errors.ts'
import { sessionTools, toolNotFound } from '../../agent/tool-list.ts'
import { newEvent, type NewEvent } from '../../protocol/events.ts'
import { callOrigin, childId, hookKey, openingKey } from '../../protocol/keys.ts'
import type { ForkRequest, SessionConfig } from '../../protocol/config.ts'
import type { CallToolInput, ChildStart, ToolOutcome } from '../../protocol/steps.ts'
import { mayFork } from '../../store/sessions/bounds.ts'
import { inputHash } from '../../store/ledger/hashes.ts'
import { TASK_MESSAGE } from '../../store/sessions/tree.ts'
import type { NewChild } from '../../store/ledger/writes.ts'
import { callForkHook } from './call-fork-hook.ts'
import { currentAttempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'
import { shutsDown } from '../step/temporal-failures.ts'
import { countCall } from '../metrics.ts'
import { askPerson, toPermit } from '../tool/ask-person.ts'
import { permitCall } from '../tool/permit-call.ts'
import { readSkillsInForce } from '../tool/session-permissions.ts'
import type { Held } from '../tool/prepare.ts'
import { parseArguments } from '../tool/parse-arguments.ts'
import { firstRecords, notPrepared, prepareChild, type PreparedChild } from './prepare-child.ts'
import { withEvents, type Ending } from '../step/end-step.ts'
import { workerLost } from '../step/quarantine.ts'
import { runStep } from '../step/run-step.ts'
import { type Mine } from '../../store/ledger/claim.ts'
import { sessionFacts } from '../session/about-session.ts'
import type { StoredSession } from '../session/session-configs.ts'
import { readCall } from '../tool/call-at-hand.ts'
import { settlement, finish } from '../tool/finish.ts'

/** The session is being closed meanwhile, so it opens no child. */
const CLOSING: Ending<ToolOutcome> = { kind: 'giveBack', result: { kind: 'notStarted', closing: true } }

function isClosing(error: unknown): boolean {
  return isStelloError(error) && error.code === 'SESSION_CLOSED'
}

export async function openChild(deps: Deps, input: CallToolInput): Promise<ToolOutcome> {
  const attempt = currentAttempt(deps, input)
  const parent = await deps.configs.read(deps.db, input.sessionId)
  const { config } = parent
  const { call, chain } = await readCall(deps, input)
  const tools = sessionTools(deps.agent, config)
  const found = tools.find(call.name)
  const builtin = found && 'builtin' in found ? found.builtin : undefined
  const awaited = builtin?.route === 'task'
  const key = awaited ? openingKey(input.key) : input.key
  const hash = inputHash('child', chain, input.index, call.name, call.arguments)
  const started = performance.now()
  const fail = (claim: Mine, error: StelloError): Ending<ToolOutcome> =>
    finish({ input, claim, chain, durationMs: Math.round(performance.now() - started), end: { error } })
  const { sessionId, gen, base, messageId } = input
  const loaded = await readSkillsInForce(deps, config, { at: { sessionId, gen, seq: base }, messageId })
  const permits = permitCall(deps, { input, call, facts: parent, tools, loaded })
  const held = (claim: Mine, why: Held): Ending<ToolOutcome> =>
    why.kind === 'ask'
      ? askPerson({ input, call }, claim, toPermit(why.asks))
      : finish({ input, claim, chain, durationMs: 0, end: why })
  const result = await runStep<ToolOutcome>(deps, attempt, {
    step: {
      key,
      kind: 'child',
      name: call.name,
      inputHash: hash,
      durable: false,
    },
    async run(claim, stop) {
      if (!builtin) return fail(claim, toolNotFound(call.name, tools))
      const parsed = parseArguments(call, builtin.check)
      if (!parsed.ok) return fail(claim, new StelloError('TOOL_VALIDATION_ERROR', parsed.problem))
      const told: NewEvent[] = []
      const permitted = await permits?.(claim, told)({ ...builtin, kind: 'readonly' }, parsed.value, {
        callId: call.id,
        signal: stop,
      })
      if (permitted && permitted.kind !== 'allow') return withEvents(held(claim, permitted), ...told)
      const request = (permitted?.args ?? parsed.value) as ForkRequest & { message?: string }
      const at = { sessionId: input.sessionId, gen: claim.gen, seq: input.base - 1 }
      try {
        await mayFork(deps.db, input.sessionId)
        const facts = sessionFacts(input.sessionId, parent)
        const opening = { attempt, at: { ...input, key }, rootId: parent.rootId }
        const prepared = await prepareChild(deps, { parent: config, facts, opening, request, at, messageId, stop })
        warnOfOrphans(deps, prepared, request)
        const child = await toChild({ deps, input, parent, hash, prepared, message: request.message })
        const durationMs = Math.round(performance.now() - started)
        return withEvents(opened({ input, claim, chain, child, awaited, durationMs }), ...told)
      } catch (error) {
        if (stop.aborted && stop.reason !== 'cancel') throw shutsDown({ cause: error })
        if (isClosing(error)) return CLOSING
        return notPrepared(error, claim, (failed) => fail(claim, failed))
      }
    },
    quarantined: (claim) => fail(claim, workerLost(call.name, claim)),
    callId: call.id,
    settled: (outcome) => countCall(deps.metrics, { call, tools }, { outcome }),
    refused(claim, message, error) {
      if (isClosing(error)) return CLOSING
      if (isStelloError(error) && error.fate === 'model') return fail(claim, error)
      return fail(claim, new StelloError('TOOL_EXECUTION_ERROR', `the fork cannot be stored: ${message}`))
    },
  })
  if ('kind' in result) return result
  if (!('outcome' in result)) throw new Error(`child step ${input.key} met an opening`)
  const { outcome } = result
  if (outcome.kind === 'childOpened') {
    const { sessionId, config: told } = outcome.child
    const { userId } = config
    const child = { ...told, ...(userId !== undefined && { userId }) }
    const fork = { sessionId, ...below(input.sessionId, parent), config: child }
    const held = await callForkHook(deps, attempt, { key: hookKey(input.key), child: fork })
    if (held) return held
  }
  return outcome
}

interface Opened {
  input: CallToolInput
  claim: Mine
  chain: string
  child: NewChild
  awaited: boolean
  durationMs: number
}

function opened({ input, claim, chain, child, awaited, durationMs }: Opened): Ending<ToolOutcome> {
  const { sessionId, config, message } = child
  const start = { sessionId, config: forStart(config), ...(message && { messageId: message.messageId }) }
  const { label, profile } = config
  const { turn, round } = input
  const forked = newEvent('session.forked', {
    of: [sessionId],
    at: { turn, round },
    data: { child: sessionId, label, turn, callId: input.call.id, awaited, ...(profile && { profile }) },
  })
  if (awaited) {
    return {
      kind: 'settle',
      outcome: { kind: 'childOpened', gen: claim.gen, child: start },
      writes: { child, events: [forked], waiting: { key: input.key, name: input.call.name } },
    }
  }
  const { outcome, writes } = settlement({ input, claim, chain, durationMs, end: { value: { sessionId, label } } })
  return {
    kind: 'settle',
    outcome: { kind: 'childOpened', gen: claim.gen, child: start, result: outcome },
    writes: { ...writes, child, events: [forked, ...(writes.events ?? [])] },
  }
}

/** The place of a session's child in the tree. */
function below(
  parentId: string,
  { rootId, depth }: StoredSession,
): { rootId: string; parentId: string; depth: number } {
  return { rootId, parentId, depth: depth + 1 }
}

/** The rest of the configuration is in the store; the workflow's history does not need it. */
function forStart({ agent, label, profile }: SessionConfig): ChildStart['config'] {
  return { agent, label, ...(profile !== undefined && { profile }) }
}

interface Making {
  deps: Deps
  input: CallToolInput
  parent: StoredSession
  hash: string
  prepared: PreparedChild
  message: string | undefined
}

async function toChild({ deps, input, parent, hash, prepared, message }: Making): Promise<NewChild> {
  const { sessionId } = input
  const { branch, config } = prepared
  const step = { sessionId, key: input.key, inputHash: hash }
  return {
    sessionId: childId(step, [config.label, config.agent]),
    ...below(sessionId, parent),
    config,
    origin: callOrigin(step),
    records: await firstRecords(deps, prepared),
    ...(branch && { branch }),
    ...(message !== undefined && { message: { messageId: TASK_MESSAGE, text: message } }),
  }
}

function warnOfOrphans(deps: Deps, { dropped }: PreparedChild, { profile }: ForkRequest): void {
  if (dropped > 0)
    deps.log.warn(
      `contextFn of profile "${profile}" left ${dropped} calls or results without their other half; they were dropped`,
    )
}
