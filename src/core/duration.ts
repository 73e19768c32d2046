/** Durations as people write them. */
import ms from 'ms'
import { StelloError, type ErrorCode } from './errors.ts'

/** Milliseconds, or text such as `'10 minutes'`. */
export type Duration = number | string

/** About three hundred years: the longest duration that can be said. */
const END_OF_TIME_MS = 1e13

/** Timers of a process take a 32-bit number: anything longer would fire at once. */
const LONGEST = { ms: 2 ** 31 - 1, text: '24 days' }
/** Timers of Temporal take more. */
const LONGEST_WAIT = { ms: 365 * 24 * 60 * 60 * 1000, text: '1 year' }

/**
 * Milliseconds of a duration.
 *
 * @param duration milliseconds, or text such as `'30s'`, `'10 minutes'`
 * @param where names the field in the error, e.g. `tool "fetch": timeout`
 * @param code of the error thrown
 * @throws StelloError when it is not a duration of 1 ms to 24 days
 * @example toMs('10 minutes', 'toolTimeout') // 600000
 */
export function toMs(duration: Duration, where: string, code: ErrorCode = 'INVALID_ARGUMENT'): number {
  return read(duration, LONGEST, { where, code })
}

/**
 * Milliseconds of a wait for which Temporal sets the timer.
 *
 * @param duration milliseconds, or text such as `'2 days'`
 * @param where names the field in the error
 * @param code of the error thrown
 * @throws StelloError when it is not a duration of 1 ms to 1 year
 * @example toWaitMs('2 days', 'permissions: expiresIn') // 172800000
 */
export function toWaitMs(duration: Duration, where: string, code: ErrorCode = 'INVALID_ARGUMENT'): number {
  return read(duration, LONGEST_WAIT, { where, code })
}

function read(
  duration: Duration,
  longest: typeof LONGEST,
  { where, code }: { where: string; code: ErrorCode },
): number {
  const value = typeof duration === 'number' ? duration : parse(duration)
  if (value === undefined || !(value >= 1 && value <= longest.ms)) {
    throw new StelloError(
      code,
      `${where}: ${show(duration)} is not a duration of 1 ms to ${longest.text}; ` +
        "give milliseconds or text such as '30s' or '10 minutes'",
    )
  }
  return Math.round(value)
}

/** A time as people say it. @example durationText(90_000) // '2 minutes' */
export function durationText(milliseconds: number): string {
  return milliseconds < END_OF_TIME_MS ? ms(milliseconds, { long: true }) : 'without end'
}

/** `ms` throws on empty and on very long text, and gives undefined for the rest it cannot read. */
function parse(duration: unknown): number | undefined {
  if (typeof duration !== 'string') return undefined
  try {
    return ms(duration as ms.StringValue) as number | undefined
  } catch {
    return undefined
  }
}

function show(value: unknown): string {
  return typeof value === 'string' ? `'${value.slice(0, 50)}'` : String(value)
}
