/** A model call as it is read before its step is taken: the prompt and the model. */
import { waitsOfTry, type Waits } from '../../agent/wait-settings.ts'
import type { Model } from '../../core/model.ts'
import type { CallModelInput } from '../../protocol/steps.ts'
import { inputHash, nextRecord } from '../../store/ledger/hashes.ts'
import { getMessage } from '../../store/transcript/message-bodies.ts'
import type { Transcript } from '../../store/transcript/transcript-cache.ts'
import type { NewRecord } from '../../store/ledger/writes.ts'
import type { Deps } from '../deps.ts'

export interface ModelCall {
  readonly input: CallModelInput
  readonly stored: Awaited<ReturnType<Deps['configs']['read']>>
  readonly model: Model
  readonly waits: Waits
  /** The last record that was written before this call. */
  readonly upTo: number
  readonly before: Transcript
  /** The message that opens the turn: the step writes it. */
  readonly question: NewRecord | undefined
  /** The chain hash covers all messages that the model is asked with. */
  readonly chain: string
  readonly hash: string
}

/** @returns undefined when the message that opens the turn has no text */
export async function readModelCall(deps: Deps, input: CallModelInput): Promise<ModelCall | undefined> {
  const { sessionId, gen } = input
  const stored = await deps.configs.read(deps.db, sessionId)
  const { config } = stored
  const text = input.opening && (await openingText(deps, sessionId, input.opening))
  if (input.opening && text === undefined) return undefined
  const upTo = text === undefined ? input.upTo : input.upTo - 1
  const before = await deps.transcripts.read(deps.db, { sessionId, gen, seq: upTo }, { leftOut: input.leftOut })
  const question =
    text === undefined ? undefined : nextRecord(before.chain, input.upTo, { role: 'user', content: text })
  const chain = question?.chain ?? before.chain
  const model = deps.agent.model(config.model)
  const stated = deps.agent.waitsOf(config.profile, config.model)
  const waits = input.tries === undefined ? stated : waitsOfTry(stated, model)
  return { input, stored, model, waits, upTo, before, question, chain, hash: inputHash('model', chain) }
}

async function openingText(
  deps: Deps,
  sessionId: string,
  opening: { messageId: string; text?: string },
): Promise<string | undefined> {
  return opening.text ?? (await getMessage(deps.db, sessionId, opening.messageId))
}
