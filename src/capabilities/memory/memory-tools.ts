/** MemoryRead and MemoryWrite: one flat schema each, since providers refuse unions at the top. */
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { SessionFacts, Tool } from '../../tool/tool.ts'
import type { MemoryManager } from './memory-manager.ts'
import { MEMORY_NAME, MEMORY_TYPES, type Memory } from './memory-store.ts'

type SpaceOf = (session: SessionFacts) => string

const BODY_LIMIT = 50 * 1024
const DESCRIPTION_LIMIT = 500

const name = z
  .string()
  .regex(MEMORY_NAME, '1 to 64 lower-case letters, digits, "-" or "_", a letter or digit first')
  .describe('Name of the memory, for example "user-tone"')

const read = z.object({
  operation: z.enum(['list', 'get', 'search', 'index']),
  name: name.optional().describe('For get: the name of the memory'),
  query: z.string().max(1000).optional().describe('For search: words that must all occur'),
})

const write = z.object({
  operation: z.enum(['save', 'delete']),
  name,
  description: z.string().min(1).max(DESCRIPTION_LIMIT).optional().describe('One line that says what it is about'),
  type: z.enum(MEMORY_TYPES).optional().describe('Default project'),
  body: z.string().min(1).max(BODY_LIMIT).optional().describe('The text to remember'),
})

export function memoryReadTool(manager: MemoryManager, spaceOf: SpaceOf): Tool {
  return createTool({
    name: 'MemoryRead',
    kind: 'readonly',
    effect: 'pure',
    description: {
      short: 'Reads what was noted in earlier sessions.',
      usageNotes: [
        'index: one line for each memory; list: name, type and description as JSON',
        'get: the whole memory of that name; search: memories in which all words of query occur',
      ],
    },
    schema: read,
    async execute({ operation, name: wanted, query }, ctx) {
      const space = spaceOf(ctx)
      switch (operation) {
        case 'index':
          return shown(await manager.list(space), 'There are no memories yet.', indexOf)
        case 'list':
          return shown(await manager.list(space), 'There are no memories yet.', listOf)
        case 'search':
          if (!query?.trim()) return refused('search needs query: the words to look for.')
          return shown(await manager.search(space, query), 'No memory has all of these words.', indexOf)
        case 'get': {
          if (wanted === undefined) return refused('get needs name: see the names by operation "index".')
          const found = await manager.get(space, wanted)
          if (!found) return refused(`There is no memory "${wanted}": see the names by operation "index".`)
          return `${indexOf([found])}\n\n${found.body}`
        }
      }
    },
  })
}

export function memoryWriteTool(manager: MemoryManager, spaceOf: SpaceOf): Tool {
  return createTool({
    name: 'MemoryWrite',
    kind: 'write',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Notes something for later sessions, or forgets it.',
      usageNotes: [
        'save: writes the memory of that name; what is left out stays as it is, and a new one needs description and body',
        'delete: forgets the memory of that name',
      ],
      important: ['Never note passwords, keys or other secrets'],
    },
    schema: write,
    async execute({ operation, name: wanted, description, type, body }, ctx) {
      const space = spaceOf(ctx)
      if (operation === 'delete') {
        const there = await manager.delete(space, wanted)
        return there ? `The memory "${wanted}" is forgotten.` : `There is no memory "${wanted}".`
      }
      if ((description === undefined || body === undefined) && !(await manager.get(space, wanted))) {
        return refused(`There is no memory "${wanted}" yet: give description and body.`)
      }
      const { created } = await manager.save(space, {
        name: wanted,
        ...(description !== undefined && { description }),
        ...(type !== undefined && { type }),
        ...(body !== undefined && { body }),
      })
      return `The memory "${wanted}" is ${created ? 'saved' : 'changed'}.`
    },
  })
}

function shown(memories: readonly Memory[], none: string, show: (memories: readonly Memory[]) => string): string {
  return memories.length === 0 ? none : show(memories)
}

function indexOf(memories: readonly Memory[]): string {
  return memories.map((each) => `- ${each.name} (${each.type}): ${each.description}`).join('\n')
}

function listOf(memories: readonly Memory[]): string {
  return JSON.stringify(memories.map(({ name: title, type, description }) => ({ name: title, type, description })))
}

function refused(error: string): { success: false; error: string } {
  return { success: false, error }
}
