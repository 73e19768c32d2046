/** What the offline model of the demo finds in the documents of this repository. */
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openDocuments } from '../../examples/research/documents.ts'
import { NO_INSIGHT, planner, split } from '../../examples/research/planner.ts'
import type { Message } from '../../src/index.ts'
import { newFolder } from '../cli/command.ts'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url))
const SYSTEM = { role: 'system', content: 'You read documents.' } as const

/** The findings of one reader. */
async function findings(part: string, folder: string): Promise<string> {
  const documents = openDocuments(folder)
  const asked: Message[] = [SYSTEM, { role: 'user', content: part }]
  const { toolCalls } = await planner().complete(asked)
  const { words } = JSON.parse(toolCalls?.[0]?.arguments ?? '{}') as { words: string[] }
  const hits = await documents.search(words, 8)
  const content = hits.map((hit) => `${hit.file}:${hit.line}: ${hit.text}`).join('\n') || 'nothing found'
  const found: Message = { role: 'tool', toolCallId: 'c', name: 'search_docs', content }
  const read: Message = { role: 'tool', toolCallId: 'd', name: 'read_doc', content: '' }
  return (await planner().complete([...asked, found, ...(hits.length > 0 ? [read] : [])])).content
}

describe('the planner of the demo', () => {
  it.each(['How do workers and forks behave?', 'What happens to timeouts, streams and validation?'])(
    'finds something for each word that %j asks about',
    async (question) => {
      for (const part of split(question)) {
        const found = await findings(part, DOCS)
        expect(found).not.toContain('Nothing was found')
        expect(found.match(/^> /gm)).toHaveLength(3)
      }
    },
  )

  it('finds the forms of a word, but not the word inside other words', async () => {
    const folder = await newFolder()
    await mkdir(join(folder, 'd'))
    const other = 'The upstream server answers each of the requests that it gets from us within a second.'
    await writeFile(join(folder, 'd', 'a.md'), `${other}\n`)
    await writeFile(join(folder, 'd', 'b.md'), 'Streaming ends when the reader of the answer has gone away for good.\n')
    expect((await openDocuments(folder).search(['streams'], 8)).map(({ file }) => file)).toEqual(['d/b.md'])
  })

  it('says in the report that it has understood nothing', async () => {
    const messages: Message[] = [
      { role: 'user', content: 'What are forks?' },
      { role: 'user', content: 'Findings\n\nof the last part' },
    ]
    const { toolCalls } = await planner().complete(messages)
    expect(toolCalls?.[0]?.arguments).toContain(NO_INSIGHT)
  })
})
