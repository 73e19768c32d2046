/** How long a model is waited for, as the options of every adapter say it. */
import { toMs, type Duration } from '../core/duration.ts'
import type { Model } from '../core/model.ts'

/** How long this model is waited for, whatever agent and profile state. */
export interface ModelWaitOptions {
  /** How long one call may take. Default: the profile's or agent's `modelTimeout`, 10 minutes. */
  timeout?: Duration
  /** How long it may send nothing in the middle of a call. Default: the profile's or agent's `idleTimeout`, 2 minutes. */
  idleTimeout?: Duration
  /** How long it is asked again while it is away. Default: the profile's or agent's `retryFor`, 24 hours. */
  retryFor?: Duration
}

/**
 * The fields of a `Model` that these options are.
 *
 * @param where names the model in errors
 * @throws StelloError INVALID_ARGUMENT naming the option
 */
export function modelWaits(
  { timeout, idleTimeout, retryFor }: ModelWaitOptions,
  where: string,
): Pick<Model, 'timeoutMs' | 'idleTimeoutMs' | 'retryForMs'> {
  return {
    ...(timeout !== undefined && { timeoutMs: toMs(timeout, `${where}: timeout`) }),
    ...(idleTimeout !== undefined && { idleTimeoutMs: toMs(idleTimeout, `${where}: idleTimeout`) }),
    ...(retryFor !== undefined && { retryForMs: toMs(retryFor, `${where}: retryFor`) }),
  }
}
