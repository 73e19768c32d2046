/**
 * What must not be forgotten when PostgreSQL dies is on its disk before anything goes on. Only what may be repeated may
 * wait.
 */
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { eventOf, useStello } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'

const stello = useStello()

/** For each write: its step, and whether its commit waits for the disk. */
beforeAll(async () => {
  await stello.db.pool.query(`
    create table seen (session_id text, what text, how text);
    create function see() returns trigger language plpgsql as $$
    begin
      insert into seen values (new.session_id, to_jsonb(new) ->> tg_argv[0], current_setting('synchronous_commit'));
      return new;
    end $$;
    create trigger see before insert on events for each row execute function see('type');
    create trigger see before insert or update on steps for each row execute function see('name')`)
})

it('commits events, and whatever becomes of a call that must not be repeated, before it goes on', async () => {
  const gate = createGate()
  const pay = tool('pay', 'Pays', z.object({}), () => gate.pass().then(() => 'paid'))
  const look = tool('look', 'Looks', z.object({}), () => 'seen', { readOnlyHint: true })
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'look' }, { name: 'pay' }] }],
      [() => true, 'done'],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [pay, look] } })
  const turn = await session.send('go')
  await gate.reached()
  await eventOf(session, 'tool.status') // The other call has ended, so the pause cannot come before its claim.
  await session.pause('lunch')
  await viewOf(stello.client, session, ({ pause }) => pause !== undefined)
  gate.open()
  await eventOf(session, 'session.paused')
  await session.resume()
  expect((await turn.result()).text).toBe('done')
  await eventOf(session, 'session.resumed')

  const { rows } = await stello.db.pool.query<{ what: string; how: string }>(
    'select distinct what, how from seen where session_id = $1',
    [session.id],
  )
  const seen = (how: string): string[] => rows.filter((row) => row.how === how).map(({ what }) => what)
  expect(seen('on')).toEqual(
    expect.arrayContaining(['pay', 'turn.started', 'message.completed', 'session.paused', 'turn.completed']),
  )
  // Claims: what can be seen here would be seen of the others, too.
  expect(seen('off').toSorted()).toEqual(['look', 'scripted'])
})
