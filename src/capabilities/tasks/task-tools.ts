/**
 * TaskCreate, TaskGet, TaskUpdate and TaskList. All four are ordered, the two that only read as well: they show what the
 * calls before them in the same round have changed.
 */
import { z } from 'zod'
import { isStelloError } from '../../core/errors.ts'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import {
  NO_TASKS,
  TASK_STATUSES,
  TaskRefusal,
  blockedTasks,
  createTask,
  findTask,
  openBlockers,
  updateTask,
  type TaskList,
} from './task-list.ts'

/** The name of the list in the values of the session. */
const TASKS = 'tasks'

const id = z.string().min(1).max(20)
const subject = z.string().min(1).max(500)
const description = z.string().max(10_000)
const activeForm = z.string().min(1).max(500).describe('The subject while it is being done: "Running the tests"')
const aliases = { task_id: 'taskId' }

export function taskCreateTool(): Tool {
  return createTool({
    name: 'TaskCreate',
    kind: 'execute',
    effect: 'idempotent',
    ordered: true,
    description: 'Adds a task to the list of tasks. It begins as pending; its id is a number that is never used again.',
    schema: z.object({
      subject: subject.describe('What is to be done, in a few words'),
      description: description.describe('Everything that somebody needs to know who does it'),
      activeForm: activeForm.optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
    }),
    execute: ({ subject: what, description: how, ...more }, ctx) =>
      changing(ctx, (list) => {
        const created = createTask(list, { subject: what, description: how, ...present(more) })
        return { list: created.list, told: { taskId: created.task.id, task: created.task } }
      }),
  })
}

export function taskGetTool(): Tool {
  return createTool({
    name: 'TaskGet',
    kind: 'readonly',
    effect: 'pure',
    ordered: true,
    description: 'Reads one task, with what it waits for and what waits for it.',
    aliases,
    schema: z.object({ taskId: id }),
    execute: ({ taskId }, ctx) =>
      answering(async () => {
        const list = await read(ctx)
        return { ...findTask(list, taskId), blocks: blockedTasks(list, taskId) }
      }),
  })
}

export function taskUpdateTool(): Tool {
  return createTool({
    name: 'TaskUpdate',
    kind: 'execute',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Changes one task. What is left out stays as it is.',
      usageNotes: [
        'Set in_progress before you begin, and completed as soon as it is done; deleted removes the task',
        'addBlockedBy: tasks that must be completed first; addBlocks: tasks that wait for this one',
      ],
    },
    aliases,
    schema: z.object({
      taskId: id,
      status: z.enum([...TASK_STATUSES, 'deleted']).optional(),
      subject: subject.optional(),
      description: description.optional(),
      activeForm: activeForm.optional(),
      owner: z.string().max(200).optional().describe('Who does it'),
      metadata: z.record(z.string(), z.unknown()).optional().describe('Added to what there is; null removes a key'),
      addBlocks: z.array(id).max(100).optional(),
      addBlockedBy: z.array(id).max(100).optional(),
    }),
    execute: ({ taskId, ...given }, ctx) =>
      changing(ctx, (list) => {
        const change = present(given)
        const from = findTask(list, taskId).status
        const changed = updateTask(list, taskId, change)
        const to = change.status ?? from
        const told = {
          success: true,
          taskId,
          updatedFields: Object.keys(change),
          ...(to !== from && { statusChange: { from, to } }),
        }
        return { list: changed, told }
      }),
  })
}

export function taskListTool(): Tool {
  return createTool({
    name: 'TaskList',
    kind: 'readonly',
    effect: 'pure',
    ordered: true,
    description: 'Lists all tasks. blockedBy names those that must be completed first.',
    schema: z.object({}),
    async execute(_args, ctx) {
      const list = await read(ctx)
      return list.tasks.map((task) => {
        const { id: taskId, subject: what, status, owner } = task
        return {
          id: taskId,
          subject: what,
          status,
          ...(owner !== undefined && { owner }),
          blockedBy: openBlockers(list, task),
        }
      })
    },
  })
}

async function read(ctx: ToolContext): Promise<TaskList> {
  return ((await ctx.values.get(TASKS)) as TaskList | undefined) ?? NO_TASKS
}

interface Refused {
  success: false
  error: string
}

function changing<Told>(
  ctx: ToolContext,
  change: (list: TaskList) => { list: TaskList; told: Told },
): Promise<Told | Refused> {
  return answering(async () => {
    const { list, told } = change(await read(ctx))
    keep(ctx, list)
    return told
  })
}

/** @throws TaskRefusal when the list has become too large */
function keep(ctx: ToolContext, list: TaskList): void {
  try {
    ctx.values.set(TASKS, list)
  } catch (error) {
    if (!isStelloError(error) || error.code !== 'INVALID_ARGUMENT') throw error
    throw new TaskRefusal('The list of tasks is full: delete tasks that are done, or write shorter descriptions.')
  }
}

async function answering<Result>(work: () => Promise<Result>): Promise<Result | Refused> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TaskRefusal) return { success: false, error: error.message }
    throw error
  }
}

/** Without fields that are undefined. */
function present<Fields extends object>(fields: Fields): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Fields]?: Exclude<Fields[Key], undefined>
  }
}
