/** The raw text a model gave as arguments → checked arguments, or what is wrong with it in words a model can act on. */
import { messageOf } from '../agent/errors.ts'
import { preview, type ToolCall } from '../agent/message.ts'
import type { Checked } from '../agent/tool.ts'

export function parseArguments(call: ToolCall, check: (args: unknown) => Checked): Checked {
  const text = call.arguments.trim()
  let args: unknown
  try {
    args = text === '' ? {} : JSON.parse(text)
  } catch (error) {
    const problem = `the arguments of "${call.name}" are not valid JSON (${messageOf(error)}): ${preview(text, 200)}`
    return { ok: false, problem }
  }
  return check(args)
}
