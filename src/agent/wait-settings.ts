/** How long models are waited for, and how often models and tools are tried again, as an author writes it. */
import { toMs, type Duration } from '../core/duration.ts'
import { StelloError, type Clearing } from '../core/errors.ts'
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

/** Whether and when a session that has paused tries again by itself. What is left out is the default. */
export interface AutoResumeSettings {
  /** A provider or a pack that was away or busy for longer than `retryFor`. Default true. */
  weather?: boolean
  /** A key that was refused, or an account without credit. Default false: somebody must mend it anyway. */
  keys?: boolean
  /** The time until the first try. It doubles with each try that fails. Default 15 minutes. */
  first?: Duration
  /** The longest time between two tries. Default 1 hour. */
  longest?: Duration
}

/** The same in numbers. */
export interface AutoResume extends Record<Clearing, boolean> {
  /** Milliseconds. */
  firstMs: number
  /** Milliseconds. */
  longestMs: number
}

/** How long a try may stand in line before it counts as refused. */
const TRY_MS = 60_000

const AUTO_RESUME: AutoResume = { weather: true, keys: false, firstMs: 15 * 60_000, longestMs: 60 * 60_000 }

/** @throws StelloError INVALID_AGENT */
export function resolveAutoResume(settings: boolean | AutoResumeSettings = {}): AutoResume {
  if (typeof settings === 'boolean') return { ...AUTO_RESUME, weather: settings, keys: settings }
  if (!isObject(settings)) throw new StelloError('INVALID_AGENT', 'autoResume: must be true, false or an object')
  const { weather, keys, first, longest, ...unknown } = settings as AutoResumeSettings
  const [field] = Object.keys(unknown)
  if (field !== undefined)
    throw new StelloError(
      'INVALID_AGENT',
      `autoResume.${field}: is no setting; there are weather, keys, first, longest`,
    )
  for (const [name, value] of Object.entries({ weather, keys })) {
    if (value !== undefined && typeof value !== 'boolean')
      throw new StelloError('INVALID_AGENT', `autoResume.${name}: must be true or false`)
  }
  return {
    weather: weather ?? AUTO_RESUME.weather,
    keys: keys ?? AUTO_RESUME.keys,
    firstMs: first === undefined ? AUTO_RESUME.firstMs : toMs(first, 'autoResume.first', 'INVALID_AGENT'),
    longestMs: longest === undefined ? AUTO_RESUME.longestMs : toMs(longest, 'autoResume.longest', 'INVALID_AGENT'),
  }
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
  /** Calls of tools that may be repeated. */
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

/**
 * The waits of a try that a paused session makes by itself. One refusal pauses the session again. A try may stand in line for a
 * while, because many sessions try at the same time, and there is time for the models of a fallback to stand in.
 */
export function waitsOfTry(waits: Waits, { fallback }: Model): Waits {
  const attempts = fallback ? waits.model.attempts : 1
  return { ...waits, retryForMs: TRY_MS + 2 * (fallback?.afterMs ?? 0), model: { ...waits.model, attempts } }
}

/**
 * The model's own values come first. With a fallback, a call may take as long as the slowest of its models may take.
 */
export function waitsWith(waits: Waits, { timeoutMs, idleTimeoutMs, retryForMs, fallback }: Model): Waits {
  const own = timeoutMs ?? waits.timeoutMs
  return {
    ...waits,
    timeoutMs: Math.max(...(fallback?.models.map((model) => model.timeoutMs ?? own) ?? [own])),
    idleMs: idleTimeoutMs ?? waits.idleMs,
    retryForMs: retryForMs ?? waits.retryForMs,
  }
}
