/** Rows X1 to X5: a model that only knows text, in a real session. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/agent/tool.ts'
import { jsonActions } from '../../src/models/json-actions.ts'
import { ask, useStello } from '../support/session-fixture.ts'

const stello = useStello()

it('a text model calls tools, and learns why an action did not run', async () => {
  const ran: string[] = []
  const shell = tool(
    'shell',
    'Executes a command',
    z.object({ command: z.string().optional() }),
    ({ command = '' }) => {
      ran.push(command)
      return `ran ${command}`
    },
  )
  const replies = [
    'Look:\n```json\n{"action": "shell", "command": "find . \\;"}\n```',
    '{"action": "shel"}',
    '{"action": "shell", "command": "rm -r /tm',
    '{"action": "shell", "command": "a"} {"action": "shell", "command": "b"}',
  ]
  const seen: string[] = []
  const llm = jsonActions(async (messages) => {
    const results = messages.filter(({ role }) => role === 'user').slice(1)
    seen.splice(0, seen.length, ...results.map(({ content }) => content))
    return replies[messages.filter(({ role }) => role === 'assistant').length] ?? 'Done.'
  })
  const session = await stello.session({ llm, capabilities: { tools: [shell] } })
  expect(await ask(session, 'go')).toBe('Done.')
  expect(ran).toEqual(['find . \\;', 'a'])
  expect(seen).toEqual([
    'tool output:\nran find . \\;',
    expect.stringMatching(/^error: unknown tool "shel"\. Available: .*shell/),
    expect.stringMatching(/^tool error:\n.*cut off/s),
    'tool output:\nran a',
    expect.stringMatching(/^tool error:\n.*only the first action of a reply runs/s),
  ])
})
