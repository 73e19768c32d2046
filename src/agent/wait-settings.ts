/** How long models are waited for, and how often models and tools are tried again, as an author writes it. */
import { toMs, type Duration } from '../core/duration.ts'
import { StelloError } from '../core/errors.ts'
import { isObject } from '../core/is-object.ts'
import type { Model } from '../core/model.ts'
import { toRetries, type Retries, type RetrySettings } from '../core/retries.ts'
import { MODEL_TIMEOUT_MS } from '../protocol/limits.ts'

/**
 * How long an agent or a fork profile waits. For models, what the model itself states comes first, then the profile,
 * then the agent; for tools, what the tool itself states.
 */
export interface WaitSettings {
  /** How long one model call may take. Default 10 minutes. */
  modelTimeout?: Duration
  /**
   * How long a model may give nothing in the middle of a call, not even a byte. Default 2 minutes. A model of your own
   * that calls neither `onAlive` nor `onDelta` has only `modelTimeout`.
   */
  idleTimeout?: Duration
  /**
   * How long a model that is away, busy or limited is asked again before the session pauses. A longer Retry-After pauses
   * it at once. Default 24 hours.
   */
  retryFor?: Duration
  /**
   * `model`: no limit of attempts within `retryFor` unless stated. `tools`: 3 attempts, 500 ms after the first failure;
   * only for tools that may be repeated, and for `RetryableError`.
   */
  retries?: { model?: RetrySettings; tools?: RetrySettings }
}

/** How long the sessions of an agent wait, in numbers. */
export interface Waits {
  /** One model call, milliseconds. */
  timeoutMs: number
  /** Nothing from the model in the middle of a call, milliseconds. */
  idleMs: number
  /** Asking a model again, milliseconds. */
  retryForMs: number
  /** `attempts` is `Infinity` unless it was stated. */
  model: Retries
  tools: Retries
}

export const DEFAULT_WAITS: Waits = {
  timeoutMs: MODEL_TIMEOUT_MS,
  idleMs: 120_000,
  retryForMs: 86_400_000,
  model: { attempts: Infinity, backoffMs: 1000 },
  tools: { attempts: 3, backoffMs: 500 },
}

/**
 * The waits that apply: the stated ones, and the rest from `base`.
 *
 * @param where names the agent or profile in errors
 * @throws StelloError INVALID_AGENT
 */
export function resolveWaits(settings: WaitSettings, base: Waits, where: string): Waits {
  const { modelTimeout, idleTimeout, retryFor, retries = {} } = settings
  const ms = (stated: Duration | undefined, fallback: number, field: string): number =>
    stated === undefined ? fallback : toMs(stated, `${where}${field}`, 'INVALID_AGENT')
  const unknown = isObject(retries) ? Object.keys(retries).find((key) => key !== 'model' && key !== 'tools') : 'retries'
  if (unknown !== undefined) {
    throw new StelloError('INVALID_AGENT', `${where}retries: must be an object with model, tools or both`)
  }
  return {
    timeoutMs: ms(modelTimeout, base.timeoutMs, 'modelTimeout'),
    idleMs: ms(idleTimeout, base.idleMs, 'idleTimeout'),
    retryForMs: ms(retryFor, base.retryForMs, 'retryFor'),
    model: { ...base.model, ...toRetries(retries.model, `${where}retries.model`, 'INVALID_AGENT') },
    tools: { ...base.tools, ...toRetries(retries.tools, `${where}retries.tools`, 'INVALID_AGENT') },
  }
}

/** What the model itself states comes first. Of models of which one answers, the slowest decides how long a call takes. */
export function waitsWith(waits: Waits, { timeoutMs, idleTimeoutMs, retryForMs, fallback }: Model): Waits {
  const own = timeoutMs ?? waits.timeoutMs
  return {
    ...waits,
    timeoutMs: Math.max(...(fallback?.models.map((model) => model.timeoutMs ?? own) ?? [own])),
    idleMs: idleTimeoutMs ?? waits.idleMs,
    retryForMs: retryForMs ?? waits.retryForMs,
  }
}
