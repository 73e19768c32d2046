/**
 * Nothing is lost over continue-as-new. The server asks for it after a few dozen events, in the middle of everything.
 */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { skills as skillsPack } from '../../src/capabilities/index.ts'
import { SkillRouterImpl } from '../../src/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { readIdentity } from '../../src/store/database/identity.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { childReportSignal } from '../../src/protocol/temporal-messages.ts'
import { lastResults, obedientInRounds } from '../seeds/obedient.ts'
import { temporalWith } from '../support/configured.ts'
import { goneForks, taskAt } from '../support/forks.ts'
import { createGate } from '../support/gate.ts'
import { runIdsOf, runsOf } from '../support/runs.ts'
import { ask, eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello(() => temporalWith('limit.historyCount.suggestContinueAsNew=40'))

it('answers each of 100 messages once, however they fall between the runs', async () => {
  const llm = scriptedModel(({ messages }) => `to ${messages.at(-1)?.content}`)
  const session = await stello.session({ llm })
  const send = async (sender: number): Promise<string[]> => {
    const answers: string[] = []
    for (let n = 0; n < 25; n++) {
      const turn = await session.send(`${sender}/${n}`, { messageId: `${sender}-${n}` })
      // Every second message is sent again, as a client does that got no reply to the first try.
      if (n % 2) await session.send(`${sender}/${n}`, { messageId: `${sender}-${n}` })
      answers.push((await turn.result()).text)
    }
    return answers
  }
  const answers = await Promise.all([0, 1, 2, 3].map(send))
  expect(answers).toEqual([0, 1, 2, 3].map((sender) => Array.from({ length: 25 }, (_, n) => `to ${sender}/${n}`)))
  const questions = (await session.transcript()).filter(({ role }) => role === 'user').map(({ content }) => content)
  expect([questions.length, new Set(questions).size]).toEqual([100, 100])
  expect(llm.calls).toHaveLength(100)
  expect(await session.state()).toMatchObject({ turns: 100, records: 200, state: 'idle' })
  expect((await runIdsOf(stello, session)).length).toBeGreaterThan(5)
}, 180_000)

it('goes on inside a round that waits for a child', async () => {
  const gate = createGate()
  const llm = scriptedModel(
    replyBy([
      ...taskAt(gate),
      [{ tool: 'new_task' }, ({ messages }) => `child: ${messages.at(-1)?.content}`],
      [() => true, 'ok'],
    ]),
  )
  const session = await stello.session({ llm, systemTools: true })
  const turn = await session.send('go')
  await gate.reached()
  const waiting = []
  for (let n = 0; n < 30; n++) waiting.push(await session.send(`message ${n}`))
  while ((await runIdsOf(stello, session)).length < 2) await session.stats()
  gate.open()
  expect((await turn.result()).text).toBe('child: slow answer')
  const answers = await Promise.all(waiting.map(async (one) => (await one.result()).text))
  expect(answers).toEqual(waiting.map(() => 'ok'))
}, 120_000)

it('goes on inside a round that waits for a person', async () => {
  const gate = createGate()
  const pay = tool('pay', 'Pays', z.object({}), () => gate.pass().then(() => 'paid'), { onUnknownOutcome: 'ask' })
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'pay' }] }],
      [{ tool: 'pay' }, ({ messages }) => `pay: ${messages.at(-1)?.content}`],
      [() => true, 'ok'],
    ]),
  )
  const agent = { llm, capabilities: { tools: [pay] } }
  const first = await stello.work(agent)
  const session = await stello.client.createSession({ agent: first.taskQueue })
  const turn = await session.send('go')
  await gate.reached()
  await first.stop()
  await stello.work({ ...agent, name: first.taskQueue })
  const { data } = await eventOf(session, 'pending.opened')
  const waiting = []
  for (let n = 0; n < 30; n++) waiting.push(await session.send(`message ${n}`))
  while ((await runIdsOf(stello, session)).length < 2) await session.stats()
  await session.answer(String(fieldOf(data, 'id')), { decision: 'done', text: 'paid 3' })
  expect((await turn.result()).text).toBe('pay: paid 3')
  const answers = await Promise.all(waiting.map(async (one) => (await one.result()).text))
  expect(answers).toEqual(waiting.map(() => 'ok'))
  expect(gate.arrived).toBe(1)
}, 120_000)

it('keeps the rules of skills, until the turn ends or as long as the session', async () => {
  const tools = ['deploy', 'wipe', 'check'].map((name) =>
    tool(name, 'd', z.object({}), () => `${name} ran`, { kind: 'execute' }),
  )
  const text = { description: 'd', content: 'c' }
  const skills = new SkillRouterImpl()
    .register({ ...text, name: 'ship', permissions: { allow: ['deploy'] } })
    .register({ ...text, name: 'clean', permissions: { allow: ['wipe'] }, scope: 'session' })
  const session = await stello.session({
    llm: scriptedModel(obedientInRounds),
    permissions: { allow: ['Skill'] },
    capabilities: { tools, skills, packs: [skillsPack()] },
  })
  const load = ['ship', 'clean'].map((skill) => ({ name: 'Skill', arguments: { skill } }))
  const turn = await session.send(JSON.stringify([load, [{ name: 'check' }], [{ name: 'deploy' }]]))
  const { data } = await eventOf(session, 'pending.opened')
  const waiting = []
  for (let n = 0; n < 30; n++) waiting.push(await session.send(`message ${n}`))
  while ((await runIdsOf(stello, session)).length < 2) await session.stats()
  await session.approve(data.id)
  await turn.result()
  const read = (await session.transcript()).flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
  expect(read.slice(2)).toEqual(['check ran', 'deploy ran'])
  await Promise.all(waiting.map(async (one) => one.result()))
  expect((await runIdsOf(stello, session)).length).toBeGreaterThan(2)

  const later = await session.send(JSON.stringify([[{ name: 'wipe' }], [{ name: 'deploy' }]]))
  const asked = await eventsUntil(session, ({ type, data }) => type === 'pending.opened' && data.name === 'deploy')
  const last = asked.at(-1)
  if (last?.type === 'pending.opened') await session.deny(last.data.id)
  await later.result()
  expect(await lastResults(session)).toEqual(['wipe ran', expect.stringContaining('did not permit "deploy"')])
}, 120_000)

it('goes on inside a round that is paused, and answers once when it is resumed', async () => {
  const gate = createGate()
  const wait = tool('wait', 'Waits', z.object({}), () => gate.pass().then(() => 'waited'))
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'wait' }] }],
      [{ tool: 'wait' }, ({ messages }) => `tool: ${messages.at(-1)?.content}`],
      [() => true, 'ok'],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [wait] } })
  const turn = await session.send('go')
  await gate.reached()
  await session.pause('lunch')
  await eventOf(session, 'session.paused')
  gate.open()
  await viewOf(stello.client, session, (view) => view.turn?.phase === 'model')
  const first = await runIdsOf(stello, session)
  const waiting = []
  while ((await runIdsOf(stello, session)).length === first.length) {
    if (waiting.length < 100) waiting.push(await session.send(`message ${waiting.length}`))
  }
  const view = await viewOf(stello.client, session, ({ queued }) => queued === waiting.length)
  expect(view).toMatchObject({ status: 'paused', turn: { n: 1, round: 1, phase: 'model' } })
  expect(llm.calls).toHaveLength(1)
  await session.resume()
  expect((await turn.result()).text).toBe('tool: waited')
  const answers = await Promise.all(waiting.map(async (one) => (await one.result()).text))
  expect(answers).toEqual(waiting.map(() => 'ok'))
  expect([gate.arrived, llm.calls.length]).toEqual([1, 2 + waiting.length])
}, 120_000)

it('goes on telling forks of a cascading close', async () => {
  const session = await stello.session({ llm: scriptedModel(() => 'ok') })
  const last = await session.fork({ label: 'the last', sessionId: 'z-last' })
  await goneForks(stello, session, 250)
  await ask(last, 'hello')
  await session.close({ cascade: true })
  await eventOf(last, 'session.closed')
  await stello.client.temporal.workflow.getHandle(session.id).result()
  expect((await runIdsOf(stello, session)).length).toBeGreaterThan(1)
})

it('keeps counts, pause and label', async () => {
  const llm = scriptedModel(() => 'ok')
  const session = await stello.session({ llm })
  for (let n = 0; n < 12; n++) await ask(session, `message ${n}`)
  await session.pause('lunch')
  const turn = await session.send('held')
  await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
  expect((await runIdsOf(stello, session)).length).toBeGreaterThan(1)
  expect((await session.stats()).totals).toMatchObject({ turns: 12, modelCalls: 12 })
  const { memo } = await stello.client.temporal.workflow.getHandle(session.id).describe()
  expect(memo).toMatchObject({ title: 'main', store: await readIdentity(stello.db) })
  await session.resume()
  expect((await turn.result()).text).toBe('ok')
})

it('keeps what it has counted and heard: time-outs in a row, results of tools, a report that came early, ids of messages', async () => {
  const hang = tool('hang', 'Does not end', z.object({}), () => new Promise<string>(() => undefined), { timeout: 100 })
  const llm = scriptedModel(
    replyBy([
      ['hang', { toolCalls: [{ name: 'hang' }] }],
      [() => true, 'ok'],
    ]),
  )
  const session = await stello.session({ llm, timeoutsBeforePause: 2, capabilities: { tools: [hang] } })
  const first = await session.send('hang', { messageId: 'first' })
  expect((await first.result()).text).toBe('ok')
  const report = { childId: 's-early', childGen: 0, childTurn: 1, callKey: 't900.0.0' }
  await stello.client.temporal.workflow.getHandle(session.id).signal(childReportSignal, report)
  const { tools } = await session.stats()
  expect(tools).toMatchObject([{ toolName: 'hang', executionCount: 1 }])
  const before = (await runIdsOf(stello, session)).length
  while ((await runIdsOf(stello, session)).length === before) await ask(session, 'hello')

  expect((await session.stats()).tools).toEqual(tools)
  const turn = await session.send('hang')
  await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
  expect(await session.state()).toMatchObject({ pause: { reason: 'tool_timeouts' } })
  await session.send('hang', { messageId: 'first' })
  await session.send('behind it')
  expect(await viewOf(stello.client, session, ({ queued }) => queued > 0)).toMatchObject({ queued: 1 })
  expect((await runsOf(stello, session)).at(-1)?.input.state?.reports).toEqual([report])
})
