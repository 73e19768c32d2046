/** What a fork asked for → what the child begins with (row S6): profile, system prompt, context. */
import type { StelloAgent } from '../agent/agent.ts'
import { dropOrphans } from '../agent/context.ts'
import { StelloError, isStelloError, messageOf } from '../agent/errors.ts'
import type { Message } from '../agent/message.ts'
import type { ForkProfile } from '../agent/profile.ts'
import type { Branch, ForkRequest, SessionConfig } from '../session/config.ts'
import { forkConfig } from '../session/fork.ts'
import { NO_CHAIN, foldChain, nextRecord } from '../store/hashes.ts'
import type { Transcript } from '../store/transcript-cache.ts'
import type { NewRecord } from '../store/writes.ts'
import { bounded, type Bounds } from './bounded.ts'
import type { Deps } from './deps.ts'

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
  request: ForkRequest
  /** Where the parent's transcript is cut. */
  at: Branch
  stop: AbortSignal
}

/** @throws StelloError with fate `model`: what is wrong with the request or the profile, for whoever asked */
export async function prepareChild(deps: Deps, { parent, request, at, stop }: Forking): Promise<PreparedChild> {
  const { agent } = deps
  const profile = findProfile(agent, request.profile)
  const composed = compose(parent, request, profile)
  const config = { ...composed, limits: agent.limitsOf(request.profile, composed.model) }
  const opening: Message[] = request.prompt ? [{ role: 'assistant', content: request.prompt }] : []
  if (profile?.contextFn) {
    const bounds = contextBounds(parent.limits?.toolTimeoutMs ?? agent.limits.toolTimeoutMs, stop, request.profile)
    const { messages, dropped } = await runContextFn(profile.contextFn, (await readAt(deps, at)).messages, bounds)
    return { config, messages: [...messages, ...opening], dropped }
  }
  const inherits = (profile?.context ?? request.context ?? 'none') === 'inherit'
  return { config, messages: opening, dropped: 0, ...(inherits && { branch: at }) }
}

/** The child's own first records; their chain goes on where the inherited part ends. */
export async function firstRecords(deps: Deps, { branch, messages }: PreparedChild): Promise<NewRecord[]> {
  if (messages.length === 0) return []
  const before = branch ? (await readAt(deps, branch)).chain : NO_CHAIN
  const records: NewRecord[] = []
  for (const [i, message] of messages.entries()) {
    records.push(nextRecord(records.length > 0 ? foldChain(records) : before, i + 1, message))
  }
  return records
}

function readAt(deps: Deps, at: Branch): Promise<Transcript> {
  return deps.transcripts.read(deps.db, at.sessionId, at.gen, at.seq)
}

/** @throws StelloError TOOL_VALIDATION_ERROR naming those there are */
export function findProfile(agent: StelloAgent, name: string | undefined): ForkProfile | undefined {
  if (name === undefined) return undefined
  const profile = agent.profiles.get(name)
  if (profile) return profile
  const known = [...agent.profiles.keys()].join(', ') || 'none'
  throw new StelloError('TOOL_VALIDATION_ERROR', `unknown profile "${name}". Available: ${known}`)
}

function compose(parent: SessionConfig, request: ForkRequest, profile: ForkProfile | undefined): SessionConfig {
  try {
    return forkConfig(parent, request, profile, request.vars ?? {})
  } catch (error) {
    throw new StelloError('TOOL_VALIDATION_ERROR', messageOf(error), { cause: error })
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

/** User code: it gets a copy, and what it throws is told to whoever asked for the fork. */
async function runContextFn(
  contextFn: NonNullable<ForkProfile['contextFn']>,
  records: Message[],
  bounds: Bounds & { what: string },
): Promise<{ messages: Message[]; dropped: number }> {
  try {
    return dropOrphans(await bounded(bounds, () => contextFn(structuredClone(records))))
  } catch (error) {
    if (isStelloError(error) && (error.fate === 'retry' || error.fate === 'model')) throw error
    throw new StelloError('TOOL_EXECUTION_ERROR', `${bounds.what} failed: ${messageOf(error)}`, { cause: error })
  }
}
