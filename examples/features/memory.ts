/**
 * Memory: what is saved in one session is read in the next. Each user has a space of their own. `postgresMemory()`
 * keeps it in the store, for workers on several machines.
 *
 * Try it: `stello dev examples/features/memory.ts`, then `stello start helper --message "Remember: I like tea" --wait`
 * and `stello start helper --message "What do I like?" --wait`.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileSystemMemoryStore, MemoryManager, memory } from 'stello-temporal/capabilities'
import { createStelloAgent, type StelloAgent } from 'stello-temporal'
import { modelOr } from './model-or.ts'

const folder = mkdtempSync(join(tmpdir(), 'stello-memories-'))
const save = {
  operation: 'save',
  name: 'drinks',
  description: 'What the user drinks',
  type: 'user',
  body: 'Likes tea.',
}

const agent: StelloAgent = createStelloAgent({
  name: 'helper',
  llm: modelOr(
    ['Remember', { toolCalls: [{ name: 'MemoryWrite', arguments: save }] }],
    [{ tool: 'MemoryWrite' }, 'I will remember it.'],
    ['What do I like', { toolCalls: [{ name: 'MemoryRead', arguments: { operation: 'get', name: 'drinks' } }] }],
    [{ tool: 'MemoryRead' }, ({ messages }) => (messages.at(-1)?.content.includes('tea') ? 'Tea.' : 'I do not know.')],
  ),
  capabilities: { packs: [memory({ memoryManager: new MemoryManager(new FileSystemMemoryStore(folder)) })] },
})

export default agent
