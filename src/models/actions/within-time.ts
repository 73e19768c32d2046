/** Ends synchronous work that takes too long: a pattern that backtracks, a quadratic repair. */
import vm from 'node:vm'

const context = vm.createContext({})
const script = new vm.Script('work()')

/** The work did not end within its time. */
export class OutOfTime extends Error {}

/**
 * Returns the result of `work`. The event loop is blocked meanwhile. Use it only for work that may be stopped anywhere:
 * its own `finally` blocks do not run when it is stopped. Loops and regular expressions are stopped; a single call of a
 * built-in function is not.
 *
 * @throws OutOfTime; whatever the work throws
 */
export function withinTime<Result>(timeoutMs: number, work: () => Result): Result {
  const before: unknown = context['work']
  context['work'] = work
  try {
    return script.runInContext(context, { timeout: timeoutMs }) as Result
  } catch (error) {
    if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new OutOfTime(`it took longer than ${timeoutMs / 1000} s`)
  } finally {
    context['work'] = before
  }
}
