/** Loads a part of the page that is not needed first. A connection that is lost meanwhile must not end the page. */
import { restBefore } from './tries.ts'

/**
 * Tries until it is there.
 *
 * @param rest waits before another try; for tests
 */
export async function loadAgain<Part>(
  load: () => Promise<Part>,
  rest: (ms: number) => Promise<void> = wait,
): Promise<Part> {
  for (let failures = 0; ; failures++) {
    try {
      return await load()
    } catch {
      await rest(restBefore(failures))
    }
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
