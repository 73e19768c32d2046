/** How long the session waits for a model. The options are the same for every adapter. */
import { toMs, type Duration } from '../core/duration.ts'
import type { Model } from '../core/model.ts'

/** How long the session waits for this model. These options win over those of the agent and the profile. */
export interface ModelWaitOptions {
  /** How long one call may take. Default: the profile's or agent's `modelTimeout`, 10 minutes. */
  timeout?: Duration
  /** How long the model may send nothing within a call. Default: the profile's or agent's `idleTimeout`, 2 minutes. */
  idleTimeout?: Duration
  /** For how long the model is asked again while it is away. Default: the profile's or agent's `retryFor`, 24 hours. */
  retryFor?: Duration
}

/**
 * These options as fields of a `Model`.
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
