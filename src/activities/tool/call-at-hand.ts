/** One tool call as an activity finds it: the model's request, the tool and the session. */
import { StelloError } from '../../core/errors.ts'
import type { Message, ToolCall } from '../../core/message.ts'
import type { Skill } from '../../core/skill.ts'
import { visibleSkills, type SessionTools } from '../../agent/tool-list.ts'
import type { CallToolInput } from '../../protocol/steps.ts'
import type { Decided } from '../../protocol/read-answer.ts'
import { idempotencyKey } from '../../protocol/keys.ts'
import { inputHash } from '../../store/ledger/hashes.ts'
import { readValue } from '../../store/transcript/values.ts'
import type { Deps } from '../deps.ts'
import { CallValues } from './call-values.ts'
import type { ToolContext } from '../../tool/tool.ts'
import type { Execution } from './execute.ts'
import type { StoredSession } from '../session/session-configs.ts'
import { aboutSession } from '../session/about-session.ts'
import { describeTools } from '../model/describe-tools.ts'
import { conversationOf } from '../model/prompt.ts'
import type { Attempt } from '../step/attempt.ts'
import { askedTools, toolsForCall } from './session-tools.ts'
import { readable, readSkillsInForce, rulesToAsk } from './session-permissions.ts'
import type { ToolChannel } from './tool-channel.ts'

export interface CallAtHand {
  input: CallToolInput
  call: ToolCall
  /** The conversation as the model reads it, up to the call, which is included. */
  messages: Message[]
  /** Chain hash of the assistant's record. */
  chain: string
  /** Input hash of the step. */
  hash: string
  facts: StoredSession
  /** The tools that the session may use, as this worker has them now. */
  tools: SessionTools
  /** The skills whose rules hold: those that earlier answers of the model have loaded. */
  loaded: readonly Skill[]
  /** The working folder that the call has entered. */
  workspace?: NonNullable<ToolContext['workspace']>
}

/** One attempt at a call. */
export interface CallAttempt {
  attempt: Attempt
  at: CallAtHand
}

export async function readCallAtHand(deps: Deps, input: CallToolInput): Promise<CallAtHand> {
  const facts = await deps.configs.read(deps.db, input.sessionId)
  const { call, chain, messages } = await readCall(deps, input)
  const hash = inputHash('tool', chain, input.index, call.name, call.arguments)
  const asking = { agent: deps.agent, sessionId: input.sessionId, session: facts, stop: deps.stopping }
  const at = { sessionId: input.sessionId, gen: input.gen, seq: input.base }
  const loaded = await readSkillsInForce(deps, facts.config, { at, messageId: input.messageId })
  return { input, call, messages, chain, hash, facts, tools: await toolsForCall(asking, call.name), loaded }
}

/** Reads the whole call from the assistant's record. The workflow knows only a preview. */
export async function readCall(
  deps: Deps,
  input: CallToolInput,
): Promise<Pick<CallAtHand, 'call' | 'messages' | 'chain'>> {
  const transcript = await deps.transcripts.read(deps.db, {
    sessionId: input.sessionId,
    gen: input.gen,
    seq: input.base,
  })
  const { chain } = transcript
  const messages = conversationOf(transcript)
  const call = messages.at(-1)?.toolCalls?.[input.index]
  if (call) return { call, messages, chain }
  throw new StelloError('STORE_CORRUPT', `session ${input.sessionId}: record ${input.base} has no call ${input.index}`)
}

/** The call as it runs: with the arguments of the model, or with the ones that a person has put in their place. */
export function asDecided(call: ToolCall, { args }: Decided = {}): ToolCall {
  return args ? { ...call, arguments: JSON.stringify(args) } : call
}

/** The call as it was begun, perhaps before Temporal was rewound. */
export function asItBegan(at: CallAtHand, { decided = {} }: { decided?: Decided }): CallAtHand {
  const args = decided.args ?? decided.begunWith
  return { ...at, call: asDecided(at.call, args && { args }) }
}

/**
 * Makes the context of the tool's code. It is the same for every attempt at the call.
 *
 * @param timeoutMs the tool's own time-out
 */
export function toExecution(
  deps: Deps,
  { input, call, hash, facts, messages, loaded, workspace }: CallAtHand,
  { timeoutMs, stop, channel }: { timeoutMs?: number | undefined; stop: AbortSignal; channel: ToolChannel },
): Execution {
  const before = { sessionId: input.sessionId, gen: input.gen, seq: input.seq - 1 }
  const rules = rulesToAsk(deps.agent, facts.config, loaded)
  return {
    ...facts,
    ...rules,
    ...readable(call.name, rules),
    sessionId: input.sessionId,
    messageId: input.messageId,
    idempotencyKey: idempotencyKey({ sessionId: input.sessionId, key: input.key, inputHash: hash }),
    timeoutMs: timeoutMs ?? facts.config.limits?.toolTimeoutMs ?? deps.agent.limits.toolTimeoutMs,
    stop,
    messages,
    channel,
    skills: visibleSkills(deps.agent, facts.config.skills),
    async listTools() {
      const asking = { agent: deps.agent, sessionId: input.sessionId, session: facts, stop }
      return describeTools(await askedTools(asking), aboutSession(input.sessionId, facts), { stop, log: deps.log })
    },
    values: new CallValues((name) => readValue(deps.db, before, name)),
    ...(workspace && { workspace }),
  }
}
