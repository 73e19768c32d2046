/** Turns the request for a fork into the child's profile, system prompt and first records. */
import type { StelloAgent } from '../../agent/agent.ts'
import { dropOrphans } from './drop-orphans.ts'
import { StelloError, isStelloError, messageOf, toStelloError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { ForkContext, ForkProfile } from '../../agent/profile.ts'
import { toModel } from '../../agent/to-model.ts'
import { readRetryable } from '../../core/retryable-error.ts'
import type { Retries } from '../../core/retries.ts'
import { toJson } from '../../core/to-json.ts'
import { askedAround, type AskAround } from '../../models/asked-around.ts'
import { sessionTools } from '../../agent/tool-list.ts'
import type { Branch, ForkRequest, SessionConfig } from '../../protocol/config.ts'
import { narrowerMode } from '../../protocol/permission-mode.ts'
import type { NotStarted } from '../../protocol/steps.ts'
import { ContextCalls, Interrupted, type Opening } from './context-calls.ts'
import { forkConfig, withMode } from './fork.ts'
import { readSkillsInForce } from '../tool/session-permissions.ts'
import { NO_CHAIN, foldChain, nextRecord } from '../../store/ledger/hashes.ts'
import { readWholeTranscript } from '../../store/transcript/load-transcript.ts'
import type { NewRecord } from '../../store/ledger/writes.ts'
import { readValue } from '../../store/transcript/values.ts'
import { MODE_TOOL, MODE_VALUE } from '../../tool/session-values.ts'
import type { SessionFacts } from '../../tool/tool.ts'
import type { Failed } from '../model/weather.ts'
import { bounded, type Bounds } from '../step/bounded.ts'
import type { Deps } from '../deps.ts'
import type { Ending } from '../step/end-step.ts'
import { backoffOf } from '../step/temporal-failures.ts'

export interface PreparedChild {
  config: SessionConfig
  /** Set when the child inherits. */
  branch?: Branch
  /** The child's own first records. */
  messages: Message[]
  /** Orphans that `contextFn` left behind. */
  dropped: number
}

export interface Forking {
  parent: SessionConfig
  /** The facts of the parent that user code gets. */
  facts: SessionFacts
  /** The step that this is a part of. */
  opening: Opening
  request: ForkRequest
  /** Where the parent's transcript is cut. */
  at: Branch
  /** The message of the parent's turn. Unset: no turn of it asks for the fork. */
  messageId?: string | undefined
  stop: AbortSignal
}

/**
 * User code has thrown. This is no error of the project, so it is not repeated without end.
 */
export class MayPass extends Error {
  /** The error when the obstacle does not pass. */
  readonly failed: StelloError
  readonly retries: Retries
  readonly afterMs: number | undefined

  constructor(failed: StelloError, retries: Retries, afterMs?: number) {
    super(failed.message)
    this.failed = failed
    this.retries = retries
    this.afterMs = afterMs
  }
}

/**
 * Ends a fork that could not be prepared. Like a tool that throws, a `contextFn` that throws is tried again.
 *
 * @param end turns the failure into the outcome for the side that asked
 * @throws the error itself when it is not about the request, the profile or the profile's code
 */
export function notPrepared<Outcome>(
  error: unknown,
  { failures }: { failures: number },
  end: (failed: StelloError) => Ending<Outcome>,
): Ending<Outcome | NotStarted | Failed> {
  if (error instanceof Interrupted) return error.ending
  if (error instanceof MayPass) {
    const { failed, retries, afterMs } = error
    if (failures + 1 >= retries.attempts) return end(failed)
    return { kind: 'retry', error, failed: true, delayMs: (times) => afterMs ?? backoffOf(times, retries) }
  }
  if (isStelloError(error) && error.fate === 'model') return end(error)
  throw error
}

/** @throws StelloError with fate `model`, naming the problem with the request or the profile; `MayPass` */
export async function prepareChild(deps: Deps, forking: Forking): Promise<PreparedChild> {
  const { parent, request, at } = forking
  const { agent } = deps
  const profile = findProfile(agent, request.profile, sessionTools(agent, parent).profiles)
  const composed = await withDenied(deps, forking, compose(await inItsMode(deps, forking), request, profile))
  const config = { ...composed, limits: agent.limitsOf(request.profile, composed.model) }
  const opening: Message[] = request.prompt ? [{ role: 'assistant', content: request.prompt }] : []
  if (profile?.contextFn) {
    const records = await readWholeTranscript(deps.db, at)
    const { messages, dropped } = await runContextFn(deps, profile.contextFn, { ...forking, child: composed, records })
    return { config, messages: [...messages, ...opening], dropped }
  }
  const inherits = (profile?.context ?? request.context ?? 'none') === 'inherit'
  return { config, messages: opening, dropped: 0, ...(inherits && { branch: at }) }
}

/** The child with the deny rules of the skills that are in force where it begins. Their allow rules are not inherited. */
async function withDenied(
  deps: Deps,
  { parent, at, messageId }: Forking,
  child: SessionConfig,
): Promise<SessionConfig> {
  const loaded = await readSkillsInForce(deps, parent, { at, messageId })
  const deny = loaded.flatMap(({ permissions }) => permissions?.deny ?? [])
  if (deny.length === 0) return child
  return { ...child, permissions: [...(child.permissions ?? []), { deny }] }
}

/** The parent with the mode that it is in where the child begins: a tool may have narrowed it. */
async function inItsMode({ agent, db }: Deps, { parent, at }: Forking): Promise<SessionConfig> {
  const known = withMode(parent, agent)
  const chosen = sessionTools(agent, parent).find(MODE_TOOL) && (await readValue(db, at, MODE_VALUE))
  const permissionMode = typeof chosen === 'string' ? narrowerMode(known.permissionMode, chosen) : undefined
  return permissionMode === undefined ? known : { ...known, permissionMode }
}

/** The child's own first records. Their chain continues where the inherited part ends. */
export async function firstRecords(deps: Deps, { branch, messages }: PreparedChild): Promise<NewRecord[]> {
  if (messages.length === 0) return []
  const { transcripts, db } = deps
  const before = branch ? (await transcripts.read(db, branch)).chain : NO_CHAIN
  const records: NewRecord[] = []
  for (const [i, message] of messages.entries()) {
    records.push(nextRecord(records.length > 0 ? foldChain(records) : before, i + 1, message))
  }
  return records
}

/**
 * @param allowed the names that the asking side may use
 * @throws StelloError TOOL_VALIDATION_ERROR naming them
 */
export function findProfile(
  agent: StelloAgent,
  name: string | undefined,
  allowed: readonly string[] = [...agent.profiles.keys()],
): ForkProfile | undefined {
  if (name === undefined) return undefined
  const profile = agent.profiles.get(name)
  if (profile && allowed.includes(name)) return profile
  const problem = profile ? `this session may not fork into profile "${name}"` : `unknown profile "${name}"`
  throw new StelloError('TOOL_VALIDATION_ERROR', `${problem}. Available: ${allowed.join(', ') || 'none'}`, {
    ...(profile && {
      hint: 'a child is never allowed more than its parent: close this session, and fork it otherwise',
    }),
  })
}

function compose(parent: SessionConfig, request: ForkRequest, profile: ForkProfile | undefined): SessionConfig {
  try {
    return forkConfig(parent, request, profile)
  } catch (error) {
    throw new StelloError('TOOL_VALIDATION_ERROR', messageOf(error))
  }
}

function contextBounds(timeoutMs: number, stop: AbortSignal, profile: string | undefined): Bounds & { what: string } {
  const what = `contextFn of profile "${profile}"`
  return {
    what,
    timeoutMs,
    stop,
    timedOut: () => new StelloError('TOOL_TIMEOUT', `${what} did not end within ${timeoutMs / 1000} s`),
    stopped: () => new StelloError('TOOL_CANCELLED', `${what} was cancelled`),
  }
}

/** User code, so it gets a copy. The side that asked for the fork is told its errors. */
async function runContextFn(
  deps: Deps,
  contextFn: NonNullable<ForkProfile['contextFn']>,
  { parent, facts, opening, request, stop, child, records }: Forking & { child: SessionConfig; records: Message[] },
): Promise<{ messages: Message[]; dropped: number }> {
  const { agent } = deps
  const { tools: retries } = agent.waitsOf(child.profile, child.model)
  const waits = agent.profiles.get(child.profile ?? '')?.waits ?? agent.waits
  const bounds = contextBounds(parent.limits?.toolTimeoutMs ?? agent.limits.toolTimeoutMs, stop, request.profile)
  const failedBy = (error: unknown): StelloError =>
    new StelloError('TOOL_EXECUTION_ERROR', `${bounds.what} failed: ${messageOf(error)}`)
  let given: unknown
  try {
    given = await bounded(bounds, (signal) => {
      const calls = new ContextCalls(deps, { ...opening, waits, stop: signal })
      const asking = (ask: AskAround): ForkContext => ({
        parent: facts,
        signal,
        ask: async (messages, { model, tools } = {}) =>
          ask(model ? toModel(model, 'ask') : agent.model(child.model), messages, { ...(tools && { tools }) }),
      })
      const work = askedAround(
        (model, messages, options) => calls.ask(model, messages, options),
        async (ask) => contextFn(structuredClone(records), asking(ask)),
      )
      return Promise.race([work, calls.interrupted])
    })
  } catch (error) {
    if (error instanceof Interrupted) throw error
    const known = toStelloError(error)
    if (known?.fate === 'model') throw known
    // An error that no wait mends fails at once.
    throw !known || known.fate === 'retry'
      ? new MayPass(failedBy(error), retries, readRetryable(error)?.afterMs)
      : failedBy(error)
  }
  try {
    // Must be plain data: only JSON can be stored.
    return dropOrphans(Array.isArray(given) ? JSON.parse(toJson(given)) : given)
  } catch (error) {
    throw failedBy(error)
  }
}
