/** Repeats work of a worker until it stops, beginning at once. */

/**
 * @param work never rejects; the next begins `everyMs` after it has ended
 * @returns a function that stops it, and resolves when the running work has ended
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
