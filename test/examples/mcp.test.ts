/**
 * The secretary notes a person in one session and looks the person up in another. The notes are kept by a server from
 * npm.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { secretary } from '../../examples/mcp/agent.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { ask, useStello } from '../support/session-fixture.ts'

const stello = useStello()

it('remembers in one session what it was told in another', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stello-secretary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes trains'] }]
  const llm = scriptedModel(
    replyBy([
      [/^Ada likes/, { toolCalls: [{ name: 'mcp__memory__create_entities', arguments: { entities } }] }],
      [/^What does/, { toolCalls: [{ name: 'mcp__memory__search_nodes', arguments: { query: 'Ada' } }] }],
      [{ tool: 'mcp__memory__search_nodes' }, ({ messages }) => messages.at(-1)?.content ?? ''],
      [() => true, 'noted'],
    ]),
  )
  const agent = secretary(llm, join(folder, 'people.jsonl'))
  await stello.serve(agent)
  const [first, second] = [
    await stello.client.createSession({ agent: agent.name }),
    await stello.client.createSession({ agent: agent.name }),
  ]
  expect(await ask(first, 'Ada likes trains')).toBe('noted')
  expect(await ask(second, 'What does Ada like?')).toContain('likes trains')
})
