/** Whether anybody serves an agent, as Temporal knows it. */
import { expect, it } from 'vitest'
import { pollersOf } from '../../src/temporal/pollers.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()

it('names the workers that poll for an agent, and none for one that nobody serves', async () => {
  const { taskQueue } = await stello.work({ llm: scriptedModel([]) })
  await expect
    .poll(() => pollersOf(stello.client.temporal, taskQueue))
    .toContainEqual({ identity: expect.stringMatching(/^\d+@.+#\d+$/), polledAt: expect.any(Date) })
  expect(await pollersOf(stello.client.temporal, 'nobody-serves-this')).toEqual([])
})
