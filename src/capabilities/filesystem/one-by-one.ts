/**
 * Runs calls that change the same file one after another: calls of one round run side by side. Between processes,
 * `replaceFile` notices a change.
 */

const running = new Map<string, Promise<unknown>>()

export function oneByOne<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const result = (running.get(path) ?? Promise.resolve()).then(work)
  const ended = result
    .catch(() => undefined)
    .finally(() => {
      if (running.get(path) === ended) running.delete(path)
    })
  running.set(path, ended)
  return result
}
