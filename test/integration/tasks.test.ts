/** Tasks for child sessions, whose answers are awaited. */
import { describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { onlyChild, taskAt } from '../support/forks.ts'
import { createGate } from '../support/gate.ts'
import { eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()

describe('new_task', () => {
  const task = (label: string): { name: string; arguments: object } => ({
    name: 'new_task',
    arguments: { label, message: `do ${label}` },
  })

  it('runs the tasks of one round side by side and answers in call order', async () => {
    const gate = createGate()
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [task('a'), task('b')] }],
        [
          /^do /,
          async ({ messages }) => {
            await gate.pass()
            return `done: ${messages.at(-1)?.content}`
          },
        ],
        [
          { tool: 'new_task' },
          ({ messages }) =>
            messages
              .slice(-2)
              .map(({ content }) => content)
              .join(', '),
        ],
      ]),
    )
    const session = await stello.session({ llm, systemTools: true })
    const turn = await session.send('go')
    await gate.reached(2)
    expect((await session.state()).state).toBe('waiting')
    gate.open()
    expect((await turn.result()).text).toBe('done: do a, done: do b')
    // The time from the beginning of its child to its answer, not only the time to write the answer down.
    const { tools } = await session.stats()
    expect(tools).toMatchObject([{ toolName: 'new_task', executionCount: 2 }])
    expect(tools[0]?.totalDuration).toBeGreaterThan(0)
    const { children } = await session.tree()
    expect(children.map(({ label }) => label).toSorted()).toEqual(['a', 'b'])
    for (const { id } of children) await eventOf(stello.client.session(id), 'session.closed')
  })

  it.each([
    ['cancelled', (child: SessionHandle) => child.cancelTurn()],
    ['closed', (child: SessionHandle) => child.close()],
    [
      'terminated',
      async (child: SessionHandle) => void (await stello.client.temporal.workflow.getHandle(child.id).terminate()),
    ],
  ])('whose child is %s gives the model an error', async (_how, end) => {
    const gate = createGate()
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [task('a')] }],
        [
          /^do /,
          async () => {
            await gate.pass()
            return 'too late'
          },
        ],
        [{ tool: 'new_task' }, 'I see'],
      ]),
    )
    const session = await stello.session({ llm, systemTools: true })
    const turn = await session.send('go')
    await gate.reached()
    await end(await onlyChild(stello.client, session))
    expect((await turn.result()).text).toBe('I see')
    expect(llm.calls.at(-1)?.messages.at(-1)).toMatchObject({
      role: 'tool',
      isError: true,
      content: expect.stringContaining('TOOL_EXECUTION_ERROR') as string,
    })
  })

  it('whose caller is terminated lets its child end as usual', async () => {
    const gate = createGate()
    const session = await stello.session({ llm: scriptedModel(replyBy(taskAt(gate))), systemTools: true })
    await session.send('go')
    await gate.reached()
    const child = await onlyChild(stello.client, session)
    await stello.client.temporal.workflow.getHandle(session.id).terminate()
    gate.open()
    await stello.client.temporal.workflow.getHandle(child.id).result()
    expect((await child.state()).state).toBe('closed')
    expect((await child.transcript()).at(-1)?.content).toBe('slow answer')
  })

  it('whose caller is cancelled stops its child too', async () => {
    const gate = createGate()
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [task('a')] }],
        [
          /^do /,
          async () => {
            await gate.pass()
            return 'too late'
          },
        ],
      ]),
    )
    const session = await stello.session({ llm, systemTools: true })
    const turn = await session.send('go')
    await gate.reached()
    const child = await onlyChild(stello.client, session)
    await session.cancelTurn()
    expect((await turn.result()).stopReason).toBe('cancelled')
    expect((await eventOf(child, 'turn.completed')).data).toMatchObject({ stopReason: 'cancelled' })
  })
})
