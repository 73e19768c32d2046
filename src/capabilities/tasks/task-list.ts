/** The list of tasks of a session: pure changes of it. A change that is not allowed leaves the list as it is. */

export const TASK_STATUSES = ['pending', 'in_progress', 'completed'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

export interface Task {
  /** `1`, `2` …: never given twice in a session. */
  id: string
  subject: string
  description: string
  /** The subject while it is being done. */
  activeForm?: string
  owner?: string
  status: TaskStatus
  /** The tasks that must be completed first. */
  blockedBy: readonly string[]
  metadata?: Readonly<Record<string, unknown>>
}

export interface TaskList {
  /** How many tasks there ever were. */
  made: number
  tasks: readonly Task[]
}

export type NewTask = Pick<Task, 'subject' | 'description' | 'activeForm' | 'metadata'>

export interface TaskChange {
  status?: TaskStatus | 'deleted' | undefined
  subject?: string | undefined
  description?: string | undefined
  activeForm?: string | undefined
  owner?: string | undefined
  /** Added to what there is; null removes a key. */
  metadata?: Readonly<Record<string, unknown>> | undefined
  /** Tasks that wait for this one. */
  addBlocks?: readonly string[] | undefined
  /** Tasks that this one waits for. */
  addBlockedBy?: readonly string[] | undefined
}

export const NO_TASKS: TaskList = { made: 0, tasks: [] }

/** A change that is not allowed. The message is for the model. */
export class TaskRefusal extends Error {
  override readonly name = 'TaskRefusal'
}

export function createTask({ made, tasks }: TaskList, fields: NewTask): { list: TaskList; task: Task } {
  const task: Task = { id: String(made + 1), ...fields, status: 'pending', blockedBy: [] }
  return { list: { made: made + 1, tasks: [...tasks, task] }, task }
}

/** @throws TaskRefusal when there is no such task */
export function findTask({ tasks }: TaskList, id: string): Task {
  const task = tasks.find((each) => each.id === id)
  if (task) return task
  const known = tasks.length > 0 ? `There are: ${tasks.map((each) => each.id).join(', ')}` : 'There are none'
  throw new TaskRefusal(`There is no task "${id}". ${known}.`)
}

/** The tasks that wait for this one. */
export function blockedTasks({ tasks }: TaskList, id: string): string[] {
  return tasks.filter(({ blockedBy }) => blockedBy.includes(id)).map((task) => task.id)
}

/** The tasks that this one still waits for. */
export function openBlockers({ tasks }: TaskList, { blockedBy }: Task): string[] {
  return blockedBy.filter((id) => tasks.some((task) => task.id === id && task.status !== 'completed'))
}

/** @throws TaskRefusal when a task is unknown, or would wait for itself */
export function updateTask(list: TaskList, id: string, { addBlocks, addBlockedBy, ...change }: TaskChange): TaskList {
  const task = findTask(list, id)
  if (change.status === 'deleted') return withoutTask(list, id)
  const changed = withTask(list, { ...task, ...fieldsOf(task, change) })
  const waits = [
    ...(addBlocks ?? []).map((blocked) => ({ blocked, by: id })),
    ...(addBlockedBy ?? []).map((by) => ({ blocked: id, by })),
  ]
  return waits.reduce(withWait, changed)
}

function fieldsOf(task: Task, { status, metadata, ...texts }: TaskChange): Partial<Task> {
  return {
    ...(Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)) as Partial<Task>),
    ...(status !== undefined && status !== 'deleted' && { status }),
    ...(metadata && { metadata: merged(task.metadata, metadata) }),
  }
}

function merged(had: Task['metadata'], given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const all = new Map([...Object.entries(had ?? {}), ...Object.entries(given)])
  return Object.fromEntries([...all].filter(([, value]) => value !== null))
}

function withTask({ made, tasks }: TaskList, changed: Task): TaskList {
  return { made, tasks: tasks.map((task) => (task.id === changed.id ? changed : task)) }
}

function withoutTask({ made, tasks }: TaskList, id: string): TaskList {
  const others = tasks.filter((task) => task.id !== id)
  return {
    made,
    tasks: others.map((task) => ({ ...task, blockedBy: task.blockedBy.filter((blocker) => blocker !== id) })),
  }
}

function withWait(list: TaskList, { blocked, by }: { blocked: string; by: string }): TaskList {
  const task = findTask(list, blocked)
  findTask(list, by)
  if (blocked === by) throw new TaskRefusal(`Task ${blocked} cannot wait for itself.`)
  if (task.blockedBy.includes(by)) return list
  if (dependsOn(list, by, blocked)) {
    throw new TaskRefusal(`Task ${blocked} cannot wait for task ${by}: ${by} waits for ${blocked} already.`)
  }
  return withTask(list, { ...task, blockedBy: [...task.blockedBy, by] })
}

/** Whether a task waits for another, directly or by others. */
function dependsOn({ tasks }: TaskList, id: string, other: string): boolean {
  const reached = new Set([id])
  for (const each of reached) tasks.find((task) => task.id === each)?.blockedBy.forEach((by) => reached.add(by))
  return reached.has(other)
}
