/** A scripted model that behaves like a model that knows only text: its calls become JSON actions, one per reply. */
import { jsonActions } from '../../src/models/actions/json-actions.ts'
import { scriptedModel, type ScriptFunction } from '../../src/testing/index.ts'
import type { Model } from '../../src/core/model.ts'

/** @param script a script that is written for native calls. Its calls of one answer are given in several replies */
export function speakingJson(script: ScriptFunction): Model {
  return jsonActions(
    scriptedModel(async ({ messages, ...request }) => {
      const asked = messages.findLastIndex(({ role, content }) => role === 'user' && !isResult(content))
      const actions = messages.slice(asked + 1).filter(({ role }) => role === 'assistant').length
      const before = await script({ ...request, messages: messages.slice(0, asked + 1) })
      const due = typeof before === 'string' ? undefined : before.toolCalls?.[actions]
      if (due) return JSON.stringify({ action: due.name, ...(due.arguments as object) })
      const next = actions === 0 ? before : await script({ ...request, messages })
      if (typeof next === 'string' || !next.toolCalls) return next
      const [call] = next.toolCalls
      return JSON.stringify({ action: call?.name, ...(call?.arguments as object) })
    }),
  )
}

function isResult(content: string): boolean {
  return /^(tool output|tool error|error): ?/.test(content)
}
