/** TodoWrite: replaces the session's list of things to do. */
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { Tool } from '../../tool/tool.ts'

const schema = z.object({
  todos: z
    .array(
      z.object({
        content: z.string().min(1).max(1000).describe('What is to be done: "Run the tests"'),
        status: z.enum(['pending', 'in_progress', 'completed']),
        activeForm: z.string().min(1).max(1000).describe('The same while it is being done: "Running the tests"'),
        id: z.string().max(100).optional(),
        priority: z.enum(['high', 'medium', 'low']).optional(),
      }),
    )
    .max(100)
    .describe('The whole list; an empty one clears it'),
})
type Todos = z.output<typeof schema>['todos']

/** The name of the list in the values of the session. */
const TODOS = 'todos'

export function todoWriteTool(): Tool {
  return createTool({
    name: 'TodoWrite',
    kind: 'readonly',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Writes the list of what is to be done. It replaces the whole list.',
      usageNotes: [
        'Use it for work of three steps or more, and keep it up to date while you work',
        'Keep exactly one entry in_progress; mark an entry completed as soon as it is done',
      ],
    },
    schema,
    execute({ todos }, ctx) {
      if (todos.length === 0) ctx.values.delete(TODOS)
      else ctx.values.set(TODOS, todos)
      return { success: true, llmContent: told(todos), displayContent: checklist(todos) }
    },
  })
}

function told(todos: Todos): string {
  if (todos.length === 0) return 'The list is empty now.'
  const count = (status: Todos[number]['status']): number => todos.filter((todo) => todo.status === status).length
  const active = count('in_progress')
  const state = `The list is saved: ${count('completed')} of ${todos.length} completed, ${active} in progress.`
  return active > 1 ? `${state} Keep only one entry in_progress.` : state
}

const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const

/** For people. */
function checklist(todos: Todos): string {
  return todos
    .map(({ content, activeForm, status }) => `${MARKS[status]} ${status === 'in_progress' ? activeForm : content}`)
    .join('\n')
}
