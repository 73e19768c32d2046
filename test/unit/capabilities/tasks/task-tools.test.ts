/** The tools of the list of tasks as a model meets them. */
import { describe, expect, it } from 'vitest'
import { tasks } from '../../../../src/capabilities/index.ts'
import { CallValues } from '../../../../src/activities/tool/call-values.ts'
import { callToolOf, type Answer } from '../call-tool-of.ts'
import { testContext } from '../test-context.ts'

function useTasks() {
  const ctx = testContext({ values: new CallValues(async () => undefined) })
  const call = callToolOf(tasks(), ctx)
  const create = (subject: string, more: object = {}) => call('TaskCreate', { subject, description: 'd', ...more })
  const update = (taskId: string, change: object) => call('TaskUpdate', { taskId, ...change })
  const get = async (taskId: string) => json(await call('TaskGet', { taskId }))
  const list = async () => json(await call('TaskList'))
  return { ctx, call, create, update, get, list }
}

const json = ({ text }: Answer): unknown => JSON.parse(text)

describe('the list of tasks', () => {
  it('begins empty, and numbers its tasks from 1', async () => {
    const { create, list } = useTasks()
    expect(await list()).toEqual([])
    expect(json(await create('Look', { activeForm: 'Looking', metadata: { area: 'api' } }))).toEqual({
      taskId: '1',
      task: {
        id: '1',
        subject: 'Look',
        description: 'd',
        activeForm: 'Looking',
        metadata: { area: 'api' },
        status: 'pending',
        blockedBy: [],
      },
    })
    await create('Write')
    expect(await list()).toEqual([
      { id: '1', subject: 'Look', status: 'pending', blockedBy: [] },
      { id: '2', subject: 'Write', status: 'pending', blockedBy: [] },
    ])
  })

  it('changes the given fields, names them, and leaves the rest', async () => {
    const { create, update, get } = useTasks()
    await create('Look', { metadata: { area: 'api', size: 3 } })
    const change = { status: 'in_progress', owner: 'me', metadata: { size: null, risk: 'low' } }
    expect(json(await update('1', change))).toEqual({
      success: true,
      taskId: '1',
      updatedFields: ['status', 'owner', 'metadata'],
      statusChange: { from: 'pending', to: 'in_progress' },
    })
    expect(json(await update('1', { subject: 'Look again' }))).toEqual({
      success: true,
      taskId: '1',
      updatedFields: ['subject'],
    })
    expect(await get('1')).toEqual({
      id: '1',
      subject: 'Look again',
      description: 'd',
      status: 'in_progress',
      owner: 'me',
      metadata: { area: 'api', risk: 'low' },
      blockedBy: [],
      blocks: [],
    })
  })

  it('knows which task waits for which, and shows blockers until they are completed', async () => {
    const { create, update, get, list } = useTasks()
    for (const subject of ['Look', 'Write', 'Test']) await create(subject)
    await update('3', { addBlockedBy: ['1', '2'] })
    await update('1', { addBlocks: ['2'] })
    expect(await get('1')).toMatchObject({ blocks: ['2', '3'], blockedBy: [] })
    await update('1', { status: 'completed' })
    expect(await list()).toMatchObject([{ blockedBy: [] }, { blockedBy: [] }, { blockedBy: ['2'] }])
    expect(await get('3')).toMatchObject({ blockedBy: ['1', '2'] })
  })

  it('forgets a deleted task everywhere, and never gives its number again', async () => {
    const { create, update, list } = useTasks()
    for (const subject of ['Look', 'Write']) await create(subject)
    await update('1', { addBlocks: ['2'] })
    expect(json(await update('1', { status: 'deleted' }))).toMatchObject({
      statusChange: { from: 'pending', to: 'deleted' },
    })
    await update('2', { status: 'deleted' })
    await create('Test')
    expect(await list()).toEqual([{ id: '3', subject: 'Test', status: 'pending', blockedBy: [] }])
  })

  it.each([
    ['itself', '1', ['1'], 'Task 1 cannot wait for itself'],
    ['a task that waits for it', '1', ['2'], '2 waits for 1 already'],
    ['a task that waits for it by another', '1', ['3'], '3 waits for 1 already'],
    ['a task that is not there', '3', ['1', '9'], 'There is no task "9". There are: 1, 2, 3.'],
  ])('refuses that a task waits for %s, and stays as it was', async (_what, task, addBlockedBy, why) => {
    const { create, update, list } = useTasks()
    for (const subject of ['Look', 'Write', 'Test']) await create(subject)
    await update('1', { addBlocks: ['2'] })
    await update('2', { addBlocks: ['3'] })
    const before = await list()
    const refused = await update(task, { subject: 'changed', addBlockedBy })
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining(why) })
    expect(await list()).toEqual(before)
  })

  it('takes the same dependency twice, and a long chain of them', async () => {
    const { create, update, get } = useTasks()
    for (let n = 1; n <= 100; n++) {
      await create(`Task ${n}`)
      if (n > 1) await update(String(n), { addBlockedBy: [String(n - 1), String(n - 1)] })
    }
    expect(await get('100')).toMatchObject({ blockedBy: ['99'] })
    expect(await update('1', { addBlockedBy: ['100'] })).toMatchObject({ isError: true })
  })

  it.each(['TaskGet', 'TaskUpdate'])('says which tasks there are if %s names another', async (name) => {
    const { call, create } = useTasks()
    expect(await call(name, { taskId: '1' })).toEqual({ text: 'There is no task "1". There are none.', isError: true })
    await create('Look')
    expect(await call(name, { taskId: '2' })).toEqual({ text: 'There is no task "2". There are: 1.', isError: true })
  })

  it('knows the id by the other name that models write', async () => {
    const { call, create } = useTasks()
    await create('Look')
    expect(json(await call('TaskGet', { task_id: '1' }))).toMatchObject({ subject: 'Look' })
  })

  it('says that it is full instead of losing a task', async () => {
    const { create, list } = useTasks()
    const long = { description: 'x'.repeat(10_000) }
    const answers: Answer[] = []
    for (let n = 0; n < 30; n++) answers.push(await create('Look', long))
    expect(answers.at(-1)).toMatchObject({ isError: true, text: expect.stringContaining('full') })
    expect(await list()).toHaveLength(answers.filter(({ isError }) => !isError).length)
  })
})
