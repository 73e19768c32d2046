/**
 * Turns the raw text of a model's arguments into checked arguments, or says what is wrong in words that a model can act
 * on.
 */
import { messageOf } from '../../core/errors.ts'
import { preview, type ToolCall } from '../../core/message.ts'
import { parseJson } from '../../core/parse-json.ts'
import type { Check, Checked } from '../../tool/tool.ts'
import { OutOfTime, withinTime } from '../../models/actions/within-time.ts'

/**
 * A schema may have patterns that never end on some text of a model. No harmless check takes this long, even on a busy
 * machine.
 */
const CHECK_MS = 5000
/** Up to so many characters, a quick check runs without a time limit: the limit itself costs half a millisecond. */
const SHORT = 10_000

export function parseArguments(call: ToolCall, check: Check): Checked {
  const text = call.arguments.trim()
  let args: unknown
  try {
    args = text === '' ? {} : parseJson(text)
  } catch (error) {
    const problem = `the arguments of "${call.name}" are not valid JSON (${messageOf(error)}): ${preview(text, 200)}`
    return { ok: false, problem }
  }
  if (check.quick && text.length <= SHORT) return check(args)
  try {
    return withinTime(CHECK_MS, () => check(args))
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error
    return { ok: false, problem: `the arguments of "${call.name}" could not be checked within ${CHECK_MS / 1000} s` }
  }
}
