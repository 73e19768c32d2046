/** How full one run of a workflow is, and when that is too full. */

/** How much of its limits a run has used so far. */
export interface RunLoad {
  events: number
  bytes: number
  signals: number
  updates: number
}

/**
 * After so many events a run ends as soon as nothing is in flight, so that nobody waits for its end. A worker without
 * the session in memory replays all events, at 0.3 to 0.4 ms each; a new worker does so for all its sessions.
 */
export const LONG_RUN = 500

/** Temporal's defaults. Beyond them it terminates the run (events, bytes), or refuses signals and updates. */
const LIMITS: RunLoad = { events: 51_200, bytes: 50 * 1024 * 1024, signals: 10_000, updates: 2000 }
const CROWDED = 0.8

export function isLong({ events }: Pick<RunLoad, 'events'>): boolean {
  return events > LONG_RUN
}

/** Names the limit of which more than 80 % is used. From then on, only necessary messages are accepted. */
export function crowdedBy(load: RunLoad): string | undefined {
  const of = (Object.keys(LIMITS) as (keyof RunLoad)[]).find((name) => load[name] > LIMITS[name] * CROWDED)
  return of && `${load[of]} of at most ${LIMITS[of]} ${of}`
}
