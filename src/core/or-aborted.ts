/**
 * A result, unless the signal fires first.
 *
 * @throws the signal's reason
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted()
  if (!signal) return work
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
  })
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted])
  } catch (error) {
    // Work that also watches the signal ends with its own error.
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
