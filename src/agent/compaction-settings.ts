/** How long conversations are made to fit the model's window, as an author states it. */
import { isObject } from '../core/is-object.ts'
import { StelloError } from '../core/errors.ts'
import type { Model, ModelLike } from '../core/model.ts'
import { toModel } from './to-model.ts'

/** What happens when a conversation nears the end of the model's window. */
export interface CompactionSettings {
  /** The part of the window that a prompt may fill before it is made shorter. More than `keep`, less than 1. Default 0.8. */
  at?: number
  /** The part of the window that stays as it was said, at the end of the conversation. At least 0.05. Default 0.3. */
  keep?: number
  /** The window in tokens, where the model does not know it, or knows a wrong one. */
  window?: number
  /** Writes the summaries. A cheaper model is usually good enough. Default: the session's own. */
  model?: ModelLike
  /** The prompt that asks for the summary, instead of ours. */
  prompt?: string
}

/** Settings of compaction that are checked and complete. */
export interface Compaction {
  /** Part of the window, 0 to 1. */
  readonly at: number
  /** Part of the window, 0 to 1. */
  readonly keep: number
  /** Tokens. Unset: what the model says, or what its name says. */
  readonly window?: number
  /** Unset: the session's own. */
  readonly model?: Model
  /** Unset: the package's own. */
  readonly prompt?: string
}

const DEFAULTS = { at: 0.8, keep: 0.3 }
/** What applies where an author states nothing. */
export const DEFAULT_COMPACTION: Compaction = DEFAULTS
const LEAST_KEPT = 0.05
/** With less, not even a summary has room. */
const LEAST_WINDOW = 1000
const FIELDS = ['at', 'keep', 'window', 'model', 'prompt']

/**
 * The settings, complete. Undefined for `false`: conversations are never made shorter.
 *
 * @param where names them in errors, e.g. `compaction`
 * @throws StelloError INVALID_AGENT naming the field
 * @example resolveCompaction({ at: 0.7 }, 'compaction') // { at: 0.7, keep: 0.3 }
 */
export function resolveCompaction(
  settings: CompactionSettings | false | undefined,
  where: string,
): Compaction | undefined {
  if (settings === false) return undefined
  const given: unknown = settings
  if (given !== undefined && !isObject(given)) throw invalid(where, `must be false or { ${FIELDS.join(', ')} }`)
  const unknown = Object.keys(settings ?? {}).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined) throw invalid(`${where}.${unknown}`, `is no field; there are ${FIELDS.join(', ')}`)
  const { at = DEFAULTS.at, keep = Math.min(DEFAULTS.keep, at / 2), window, model, prompt } = settings ?? {}
  if (!isPart(at)) throw invalid(`${where}.at`, `must be a part of the window between 0 and 1, not ${String(at)}`)
  if (!isPart(keep) || keep < LEAST_KEPT || keep >= at) {
    throw invalid(`${where}.keep`, `must be at least ${LEAST_KEPT} and less than at (${at}), not ${String(keep)}`)
  }
  if (window !== undefined && !(Number.isSafeInteger(window) && window >= LEAST_WINDOW)) {
    throw invalid(
      `${where}.window`,
      `must be a whole number of tokens, at least ${LEAST_WINDOW}, not ${String(window)}`,
    )
  }
  if (prompt !== undefined && (typeof prompt !== 'string' || prompt.trim() === '')) {
    throw invalid(`${where}.prompt`, 'must be text')
  }
  return {
    at,
    keep,
    ...(window !== undefined && { window }),
    ...(model !== undefined && { model: toModel(model, `${where}.model`) }),
    ...(prompt !== undefined && { prompt }),
  }
}

function isPart(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < 1
}

function invalid(where: string, problem: string): StelloError {
  return new StelloError('INVALID_AGENT', `${where}: ${problem}`)
}
