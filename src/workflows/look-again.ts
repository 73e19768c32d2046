/** When to look again at children whose end nobody reports. */

const MINUTE_MS = 60_000
/** How long a wait counts as young, which means that a person may be waiting too: an hour. */
const OFTEN_LOOKS = 12
const OFTEN_MINUTES = 5
const LONGEST_MINUTES = 15

/**
 * Every 5 minutes for an hour, then a minute more each time, up to 15 minutes: so a lost child is noticed within that
 * time. A look takes about ten events of history. A run that waits for weeks is full of them after four days, and
 * continues as new, because such a wait is quiet.
 *
 * @param looks how often they have been looked at
 */
export function lookAgainMs(looks: number): number {
  return Math.min(OFTEN_MINUTES + Math.max(0, looks - OFTEN_LOOKS), LONGEST_MINUTES) * MINUTE_MS
}

/**
 * Who must hear that children have ended: each call that waits for one, once for each child. `first`: of those that wait
 * for that child.
 */
export function whoWaited<Waiting extends { childId: string }>(
  waiting: readonly Waiting[],
  ended: readonly { childId: string; how: string }[],
): { child: Waiting; how: string; first: boolean }[] {
  const each = ended.filter(({ childId }, i) => ended.findIndex((one) => one.childId === childId) === i)
  return each.flatMap(({ childId, how }) =>
    waiting.filter((one) => one.childId === childId).map((child, i) => ({ child, how, first: i === 0 })),
  )
}
