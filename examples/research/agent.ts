/**
 * A research agent. The main session splits a question, gives the parts to `reader` sessions, and writes a report. Each
 * quotation in it names its file and line. It works with any model; `demo.ts` brings a rule-based model for those
 * without a key.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { ForkProfileRegistryImpl, createStelloAgent, openai, tool } from '../../src/index.ts'
import { logged } from './call-log.ts'
import { openDocuments } from './documents.ts'

const documents = openDocuments(process.env['RESEARCH_DOCS'] ?? 'node_modules')
const report = resolve(process.env['RESEARCH_REPORT'] ?? '.stello/report.md')

const searchDocs = tool(
  'search_docs',
  'Search the documents for words. Returns lines as "file:line: text", best first.',
  z.object({ words: z.array(z.string()).min(1).describe('Words to look for, e.g. ["timeout", "retry"]') }),
  async ({ words }) => {
    const hits = await documents.search(words, 8)
    return hits.map((hit) => `${hit.file}:${hit.line}: ${hit.text}`).join('\n') || 'nothing found'
  },
  { readOnlyHint: true, title: 'Search documents', timeout: '60s' },
)

const readDoc = tool(
  'read_doc',
  'Read lines of a document. Returns "line: text" for each.',
  z.object({
    file: z.string().describe('As search_docs names it'),
    from: z.number().int().min(1).describe('First line'),
    count: z.number().int().min(1).max(200).default(7).describe('How many lines'),
  }),
  async ({ file, from, count }) => {
    const lines = await documents.lines(file)
    return (
      lines
        .slice(from - 1, from - 1 + count)
        .map((line, i) => `${from + i}: ${line}`)
        .join('\n') || `${file} has ${lines.length} lines`
    )
  },
  { readOnlyHint: true, title: 'Read document', timeout: '30s' },
)

/** An earlier report is never overwritten. The same text, written again after a crash, is the same file. */
function keep(text: string): string {
  mkdirSync(dirname(report), { recursive: true })
  for (let n = 1; ; n++) {
    const path = n === 1 ? report : report.replace(/(?=\.\w+$)/, `-${n}`)
    if (existsSync(path) && readFileSync(path, 'utf8') !== text) continue
    writeFileSync(path, text)
    return path
  }
}

const writeReport = tool(
  'write_report',
  'Write the finished report (Markdown). Call it once, with the whole text.',
  z.object({ content: z.string().min(1) }),
  async ({ content }) => {
    const path = keep(content.endsWith('\n') ? content : `${content}\n`)
    return `written to ${path}: ${content.length} characters`
  },
  { idempotentHint: true, title: 'Write report' },
)

const QUOTING = `Quote literally, one line per quotation, as a Markdown block quote followed by its source:

> the quoted line

— path/of/file.md:LINE

The path is the one the tools give. Never change a word inside a quotation.`

const profiles = new ForkProfileRegistryImpl().register('reader', {
  systemPromptMode: 'preset',
  systemPrompt: `You read documents. For the part of a question you are given: search, read around the best hits, then answer in a few sentences with two or three quotations.\n\n${QUOTING}`,
  tools: [searchDocs, readDoc],
  skills: [],
})

export default createStelloAgent({
  name: 'research',
  llm: logged(openai({ model: process.env['RESEARCH_MODEL'] ?? 'gpt-5.4-mini' }), process.env['RESEARCH_CALL_LOG']),
  systemPrompt: `You lead a small research team.

When you get a question: split it into parts. In one answer call new_task (profile "reader", message = the part) for all parts but the last, and stello_create_session (profile "reader", label = the last part, word for word) for the last one; that session is asked from outside, and its findings reach you as a message. Then say in one sentence that you wait for them.

When the findings come: call write_report with a report on all parts that keeps every quotation with its source, then rest with one sentence.

When you are asked more after that: give each part to new_task, and answer from what comes back. Write no other report unless you are asked for one.

${QUOTING}`,
  maxToolRounds: 8,
  systemTools: true,
  capabilities: { tools: [writeReport], profiles },
})
