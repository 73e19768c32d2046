/** The steps that this process runs. */

export type StopWhy = 'cancel' | 'shutdown'

export interface InFlight {
  ended: Promise<unknown>
  stop: AbortController
  noted: { latest?: unknown }
}

/** The running steps of this process, by session, generation, key and lease. A second attempt joins the first. */
export type Running = Map<string, InFlight>
