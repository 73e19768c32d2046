/** When children that nobody will tell of are looked at again. */

const MINUTE_MS = 60_000
/** As long as a wait is young, somebody may be waiting along with it: an hour. */
const OFTEN_LOOKS = 12
const OFTEN_MINUTES = 5
const LONGEST_MINUTES = 15

/**
 * Every 5 minutes for an hour, then a minute later each time, to 15 minutes: a child that was lost is missed for no
 * longer. A look takes about ten events of history; a run that waits for weeks is full of them after four days, and is
 * continued as new, since such a wait is quiet.
 *
 * @param looks how often they have been looked at
 */
export function lookAgainMs(looks: number): number {
  return Math.min(OFTEN_MINUTES + Math.max(0, looks - OFTEN_LOOKS), LONGEST_MINUTES) * MINUTE_MS
}
