/** How much of a conversation fits, in tokens of our own estimate. */
import type { Compaction } from '../../agent/compaction-settings.ts'
import type { Model } from '../../core/model.ts'
import { contextWindowOf } from '../../models/context-windows.ts'

export interface Room {
  window: number
  /** A prompt that takes more is made shorter. */
  limit: number
  /** How much of the conversation's end stays as it was said. */
  keep: number
}

/**
 * The room that the model has. Undefined if nobody knows its window: then only its provider's refusal makes a prompt
 * shorter.
 *
 * @param density tokens that the provider counts for one of our estimate
 */
export function roomOf(
  model: Pick<Model, 'name' | 'contextWindow'>,
  { at, keep, window: stated }: Pick<Compaction, 'at' | 'keep' | 'window'>,
  density = 1,
): Room | undefined {
  const tokens = stated ?? model.contextWindow ?? contextWindowOf(model.name)
  if (tokens === undefined) return undefined
  const window = tokens / density
  return { window, limit: at * window, keep: keep * window }
}
