/** The facts that turn an answer of the model into records and events. */
import type { Mine } from '../../store/ledger/claim.ts'
import type { Completion, Model } from '../../core/model.ts'
import type { StelloAgent } from '../../agent/agent.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import type { CallModelInput } from '../../protocol/steps.ts'
import type { SessionTools } from '../../agent/tool-list.ts'
export interface Answering {
  deps: { agent: StelloAgent; log: { warn(message: string, meta?: Record<string, unknown>): void } }
  input: CallModelInput
  claim: Mine
  config: SessionConfig
  rootId: string
  tools: SessionTools
  /** Names for people, by the tools' names. */
  titles: ReadonlyMap<string, string>
  model: Model
  /** Chain hash of the record before the answer. */
  chain: string
  completion: Completion
  /** Tokens that the provider counted for one of our estimate. Unset: it does not count. */
  density?: number
}
