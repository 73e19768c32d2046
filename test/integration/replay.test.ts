/** The workflow decides the same every time: replayed in full at every task, and from finished histories. */
import { fileURLToPath } from 'node:url'
import { Worker } from '@temporalio/worker'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/agent/tool.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { ask, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const WORKFLOWS = fileURLToPath(new URL('../../src/workflows', import.meta.url))

it('a session with tools, forks, tasks, time-outs and a pause replays at every task and from its history', async () => {
  const hang = tool('hang', 'Does not end', z.object({}), () => new Promise<string>(() => undefined), { timeout: 100 })
  const add = tool('add', 'Adds', z.object({ a: z.number(), b: z.number() }), ({ a, b }) => `${a + b}`)
  const llm = scriptedModel(
    replyBy([
      ['tools', { toolCalls: [1, 2, 3].map((a) => ({ name: 'add', arguments: { a, b: a } })) }],
      [
        'forks',
        {
          toolCalls: [
            { name: 'stello_create_session', arguments: { label: 'side', context: 'inherit' } },
            { name: 'new_task', arguments: { label: 'a', message: 'small' } },
            { name: 'new_task', arguments: { label: 'b', message: 'tools' } },
          ],
        },
      ],
      ['hang', { toolCalls: [{ name: 'hang' }, { name: 'add', arguments: { a: 1, b: 1 } }] }],
      [() => true, 'done'],
    ]),
  )
  const session = await stello.session(
    { llm, systemTools: true, timeoutsBeforePause: 1, capabilities: { tools: [add, hang] } },
    { maxCachedWorkflows: 0 },
  )
  expect(await ask(session, 'tools')).toBe('done')
  expect(await ask(session, 'forks')).toBe('done')
  const turn = await session.send('hang')
  await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
  await session.resume()
  expect((await turn.result()).text).toBe('done')
  const { children } = await session.tree()
  const side = stello.client.session(children.find(({ label }) => label === 'side')?.id ?? '')
  expect(await ask(side, 'tools')).toBe('done')

  expect(children).toHaveLength(3)
  for (const { id } of [session, ...children]) {
    const history = await stello.client.temporal.workflow.getHandle(id).fetchHistory()
    await Worker.runReplayHistory({ workflowsPath: WORKFLOWS }, history, id)
  }
})
