/**
 * A coding agent: file tools, a shell and a list of things to do in one folder. It reads and writes files there without
 * asking. A person permits its commands. It works with any model; `demo.ts` brings a rule-based model for those without
 * a key.
 */
import { resolve } from 'node:path'
import { filesystem, planning, shell } from '../../src/capabilities/index.ts'
import { createStelloAgent, openai } from '../../src/index.ts'

const root = resolve(process.env['CODING_FOLDER'] ?? '.')
const sandboxManager = { root }

export default createStelloAgent({
  name: 'coding',
  llm: openai({ model: process.env['CODING_MODEL'] ?? 'gpt-5.4-mini' }),
  systemPrompt: `You repair software in the folder ${root}.

Look before you change something: list the files with Glob, search with Grep, read with Read. Run the tests with Bash
(node --test). Change files with Edit, as little as possible, and run the tests again. Say at the end in two sentences
what was wrong and what you have changed.`,
  maxToolRounds: 20,
  permissions: { mode: 'acceptEdits' },
  capabilities: { packs: [filesystem({ sandboxManager }), shell({ sandboxManager }), planning()] },
})
