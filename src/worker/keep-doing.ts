/** Work that a worker does at once, and then again and again until it stops. */

/**
 * @param work never rejects; the next begins `everyMs` after it has ended
 * @returns stops it; resolves when the work under way has ended
 */
export function keepDoing(work: () => Promise<void>, everyMs: number): () => Promise<void> {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void>
  const round = async (): Promise<void> => {
    await work()
    if (!stopped) timer = setTimeout(() => (working = round()), everyMs)
  }
  working = round()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await working
  }
}
