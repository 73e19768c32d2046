/** How full one run of a workflow is, and when that is too full. */

/** What a run has taken so far. */
export interface RunLoad {
  events: number
  bytes: number
  signals: number
  updates: number
}

/**
 * Events after which a run ends as soon as nothing is in flight anyway, so that nobody waits for its end. Whoever has
 * the session not in memory replays them all, at 0.3 to 0.4 ms each; a new worker does so with all its sessions.
 */
export const LONG_RUN = 500

/** Temporal's defaults: beyond these it terminates the run (events, bytes) or refuses what comes (signals, updates). */
const LIMITS: RunLoad = { events: 51_200, bytes: 50 * 1024 * 1024, signals: 10_000, updates: 2000 }
const CROWDED = 0.8

export function isLong({ events }: Pick<RunLoad, 'events'>): boolean {
  return events > LONG_RUN
}

/** Names what more than 80 % of a limit is taken of: only what must get in still may. */
export function crowdedBy(load: RunLoad): string | undefined {
  const of = (Object.keys(LIMITS) as (keyof RunLoad)[]).find((name) => load[name] > LIMITS[name] * CROWDED)
  return of && `${load[of]} of at most ${LIMITS[of]} ${of}`
}
