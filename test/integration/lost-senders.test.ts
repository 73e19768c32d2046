/** A client that dies while it sends: its message is in the store, and the session was never told. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { scriptedModel } from '../../src/testing/index.ts'
import { useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()
const SENDER = fileURLToPath(new URL('../support/sender-process.ts', import.meta.url))
/** Too long for a signal, so it goes to the store first. */
const TEXT = 'a long question '.repeat(1000)

it('is delivered when it is sent once more with its id, by whatever client, and answered once', async () => {
  const session = await stello.session({ llm: scriptedModel(({ messages }) => `read ${messages.length}`) })
  const message = [session.id, 'long']
  // The row of another transaction holds the sender up in its own insert.
  const tx = await stello.db.pool.connect()
  await tx.query('begin')
  await tx.query('insert into messages (session_id, message_id, body) values ($1, $2, $3)', [...message, ''])
  const sent = { sessionId: session.id, messageId: 'long', text: TEXT, ...stello.servers }
  const sender = fork(SENDER, [JSON.stringify(sent)], { execArgv: ['--import', 'tsx'] })
  const ended = once(sender, 'exit')
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until('the sender stores it', async () => (await stello.db.pool.query(waiting)).rowCount === 1)
  sender.kill('SIGKILL')
  expect(await ended).toEqual([null, 'SIGKILL'])
  await tx.query('rollback')
  tx.release()
  // PostgreSQL goes on with a statement whose client was killed.
  await until('it is stored', async () => {
    const { rows } = await stello.db.pool.query(
      'select from messages where session_id = $1 and message_id = $2',
      message,
    )
    return rows.length === 1
  })
  expect(await session.state()).toMatchObject({ turns: 0 })
  for (let times = 0; times < 2; times++) {
    const turn = await session.send(TEXT, { messageId: 'long' })
    expect((await turn.result()).text).toMatch(/^read \d$/)
  }
  const asked = (await session.transcript()).filter(({ role }) => role === 'user')
  expect(asked.map(({ content }) => content)).toEqual([TEXT])
  expect(await session.state()).toMatchObject({ turns: 1 })
})
