/** A worker dies between two questions of a `contextFn`. The first question is not paid again. */
import { expect, it } from 'vitest'
import { replyBy } from '../../src/testing/index.ts'
import { useFreshStage } from '../support/crash-stage.ts'

const fork = { name: 'stello_create_session', arguments: { label: 'child', profile: 'compressed' } }
const stage = useFreshStage({
  script: replyBy([
    ['fork', { toolCalls: [fork] }],
    ['first question', 'one'],
    ['second question', 'two'],
    [() => true, 'done'],
  ]),
})

const questions = (): unknown[] =>
  stage.fake.requests
    .map(({ body }) => body.messages.at(-1)?.content)
    .filter((text) => typeof text === 'string' && text.endsWith('question'))

it('only the question without an answer is asked again, and the fork begins with both answers', async () => {
  const first = await stage.startWorker()
  const session = await stage.session()
  const held = stage.fake.hold(({ body }) => body.messages.at(-1)?.content === 'second question')
  const turn = await session.send('fork')
  await held.reached
  await first.kill()
  held.release()
  await stage.startWorker()
  stage.doors.say('hook', 'told')
  expect((await turn.result()).text).toBe('done')
  expect(questions()).toEqual(['first question', 'second question', 'second question'])
  const [child] = (await session.tree()).children
  const { rows } = await stage.db.pool.query(
    `select message->>'content' as content from records where session_id = $1`,
    [child?.id],
  )
  expect(rows).toEqual([{ content: 'one; two' }])
  const usage = await stage.db.pool.query(
    `select count(*)::int as paid from usage where session_id = $1 and step_key like 't%'`,
    [session.id],
  )
  expect(usage.rows).toEqual([{ paid: 2 }])
})
