/** PostgreSQL and Temporal whose clocks differ by hours: a question still waits as long as its tool says. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { InboxQuestion } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { runsOf } from '../support/runs.ts'
import { eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const HOUR = 3_600_000

/** From now on new connections to the database read another time there. */
async function storeClock(off: string): Promise<void> {
  const { pool } = stello.db
  await pool.query(`create schema if not exists wrong`)
  await pool.query(`create or replace function wrong.now() returns timestamptz language sql stable
    as $$ select pg_catalog.now() + current_setting('wrong.by')::interval $$`)
  const name = new URL(stello.servers.databaseUrl).pathname.slice(1)
  await pool.query(`alter database ${name} set search_path = wrong, public, pg_catalog`)
  await pool.query(`alter database ${name} set wrong.by = '${off}'`)
}

async function asked(off: string, expiresIn: number) {
  await storeClock(off)
  const region = tool('region', 'Asks', z.object({}), async (_, ctx) => {
    const { text, expired } = await ctx.ask({ message: 'Which region?', expiresIn, default: { text: 'EU' } })
    return `${text}${expired ? ' by default' : ''}`
  })
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'region' }] }],
      [({ role }) => role === 'tool', ({ messages }) => `read: ${messages.at(-1)?.content}`],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [region] } })
  const turn = await session.send('go')
  return { session, turn, item: (await eventOf(session, 'pending.opened')).data as InboxQuestion }
}

it('a question is over in time although the store believes that it is later', async () => {
  const { turn, item } = await asked('2 hours', 1500)
  expect(Date.parse(item.expiresAt ?? '')).toBeGreaterThan(Date.now() + HOUR)
  expect((await turn.result()).text).toBe('read: EU by default')
})

it('a question waits its whole time although the store believes that it is earlier', async () => {
  const { session, turn, item } = await asked('-2 hours', HOUR)
  expect(Date.parse(item.expiresAt ?? '')).toBeLessThan(Date.now())
  await session.answer(item.id, { decision: 'answer', text: 'US' })
  expect((await turn.result()).text).toBe('read: US')
  const [run] = await runsOf(stello, session)
  const timers = (run?.history.events ?? []).flatMap(({ timerStartedEventAttributes: timer }) => timer ?? [])
  expect(timers.map(({ startToFireTimeout }) => Number(startToFireTimeout?.seconds) > 1800)).toEqual([true])
})
