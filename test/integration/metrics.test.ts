/** What a worker tells Prometheus, scraped for real. */
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { StelloError } from '../../src/core/errors.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { replyBy, scriptedModel, startFakeOpenAI } from '../../src/testing/index.ts'
import { startDoors, startWorkerProcess } from '../support/crashing.ts'
import { quietPort } from '../support/quiet-port.ts'
import { scrape } from '../support/scrape.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const closing: (() => Promise<unknown>)[] = []
afterEach(() => Promise.all(closing.splice(0).map((close) => close())))

it('counts tools by outcome, model calls, tokens, retries and pauses, beside Temporal’s own metrics', async () => {
  let tries = 0
  const flaky = tool(
    'flaky',
    'Fails once',
    z.object({}),
    () => {
      if (tries++ === 0) throw new Error('not yet')
      return 'fine'
    },
    { readOnlyHint: true },
  )
  const slow = tool('slow', 'Never ends', z.object({}), () => new Promise<string>(() => {}), { timeout: '20ms' })
  const bad = tool('bad', 'Says no', z.object({}), () => ({ content: [{ type: 'text', text: 'no' }], isError: true }))
  const calls = ['flaky', 'bad', 'slow', 'made_up', 'stello_create_session']
  const llm = scriptedModel(
    replyBy([
      [
        'work',
        {
          toolCalls: calls.map((name) => ({ name, arguments: { label: 'child' } })),
          usage: { inputTokens: 100, outputTokens: 7 },
        },
      ],
      [
        'overload',
        () => {
          throw new StelloError('MODEL_AUTH', 'wrong key')
        },
      ],
      [() => true, { content: 'done', usage: { inputTokens: 11, outputTokens: 2 } }],
    ]),
    { name: 'gpt' },
  )
  const metricsPort = await quietPort()
  const session = await stello.session(
    { name: 'counted', llm, capabilities: { tools: [flaky, slow, bad] } },
    { metricsPort },
  )
  expect(await ask(session, 'work')).toBe('done')
  await session.send('overload')
  expect((await eventOf(session, 'session.paused')).data).toMatchObject({ reason: 'model_error' })

  const executions = (name: string, outcome: string): string =>
    `stello_tool_executions_total{agent="counted",outcome="${outcome}",tool="${name}"}`
  await expect
    .poll(() => scrape(metricsPort), { timeout: 30_000 })
    .toMatchObject({
      [executions('flaky', 'success')]: 1,
      [executions('bad', 'error')]: 1,
      [executions('slow', 'TOOL_TIMEOUT')]: 1,
      [executions('(unknown)', 'TOOL_NOT_FOUND')]: 1,
      [executions('stello_create_session', 'success')]: 1,
      'stello_tool_duration_seconds_count{agent="counted",tool="flaky"}': 1,
      'stello_model_calls_total{agent="counted",model="gpt",outcome="answered"}': 2,
      'stello_model_calls_total{agent="counted",model="gpt",outcome="failed"}': 1,
      'stello_model_duration_seconds_count{agent="counted",model="gpt"}': 3,
      'stello_input_tokens_total{agent="counted",model="gpt"}': 111,
      'stello_output_tokens_total{agent="counted",model="gpt"}': 9,
      'stello_retries_total{agent="counted",kind="tool"}': 1,
      'stello_pauses_total{agent="counted",reason="model_error"}': 1,
      'stello_live_queue{agent="counted"}': 0,
    })
  const samples = await scrape(metricsPort)
  expect(Object.keys(samples).filter((name) => name.includes('made_up'))).toEqual([])
  expect(Object.keys(samples).some((name) => name.startsWith('temporal_') && name.includes('"counted"'))).toBe(true)
  const slowest = 'stello_tool_duration_seconds_sum{agent="counted",tool="slow"}'
  expect(samples[slowest]).toBeGreaterThanOrEqual(0.02)
})

it('has every counter from the start, with 0, and counts the sessions by state, reason, and what they wait for', async () => {
  const metricsPort = await quietPort()
  const pay = tool('pay', 'Pays', z.object({}), () => 'paid', { onUnknownOutcome: 'ask' })
  const { taskQueue } = await stello.work(
    { name: 'begun', llm: scriptedModel([], { name: 'gpt' }), capabilities: { tools: [pay] } },
    { metricsPort },
  )
  const label = 'agent="begun"'
  const zeros = [
    `stello_tool_executions_total{${label},outcome="success",tool="pay"}`,
    `stello_tool_executions_total{${label},outcome="error",tool="(unknown)"}`,
    `stello_model_calls_total{${label},model="gpt",outcome="failed"}`,
    `stello_input_tokens_total{${label},model="gpt"}`,
    `stello_retries_total{${label},kind="model"}`,
    `stello_takeovers_total{${label}}`,
    `stello_quarantined_steps_total{${label},kind="hook"}`,
    `stello_workspaces_lost_total{${label}}`,
    `stello_pauses_total{${label},reason="store_error"}`,
    `stello_sessions{${label},state="paused"}`,
    `stello_paused_sessions{${label},reason="budget"}`,
    `stello_pending_items{${label},kind="unknown_outcome"}`,
    `stello_oldest_wait_seconds{${label},for="resume"}`,
  ]
  await expect
    .poll(() => scrape(metricsPort), { timeout: 30_000 })
    .toMatchObject(Object.fromEntries(zeros.map((name) => [name, 0])))
  const session = await stello.client.createSession({ agent: taskQueue })
  await stello.client.createSession({ agent: taskQueue })
  await session.pause('lunch')
  await eventOf(session, 'session.paused')
  await expect
    .poll(() => scrape(metricsPort), { timeout: 60_000 })
    .toMatchObject({
      [`stello_sessions{${label},state="idle"}`]: 1,
      [`stello_sessions{${label},state="paused"}`]: 1,
      [`stello_paused_sessions{${label},reason="user"}`]: 1,
      [`stello_oldest_wait_seconds{${label},for="resume"}`]: expect.any(Number),
    })
})

it('counts what it took over from a dead worker, and how that ended', async () => {
  const doors = await startDoors()
  const fake = await startFakeOpenAI({
    script: replyBy([
      ['pay', { toolCalls: [{ name: 'pay' }] }],
      [() => true, 'done'],
    ]),
  })
  closing.push(
    () => doors.close(),
    () => fake.close(),
  )
  const settings = { agent: 'heir', ...stello.servers, modelUrl: fake.url, gateUrl: doors.url }
  const first = await startWorkerProcess(settings)
  const session = await stello.client.createSession({ agent: 'heir' })
  const turn = await session.send('pay')
  await doors.knocked(1)
  await first.kill()
  const metricsPort = await quietPort()
  const second = await startWorkerProcess({ ...settings, metricsPort })
  closing.push(() => second.kill())
  await turn.result()
  await expect
    .poll(() => scrape(metricsPort), { timeout: 30_000 })
    .toMatchObject({
      'stello_takeovers_total{agent="heir"}': 1,
      'stello_tool_executions_total{agent="heir",outcome="TOOL_OUTCOME_UNKNOWN",tool="pay"}': 1,
    })
})

it.each([0, 65_536, 1.5])('refuses %d as a port', async (metricsPort) => {
  await expect(stello.work({ llm: scriptedModel([]) }, { metricsPort })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: `metricsPort: ${metricsPort} is not a port`,
  })
})

it('refuses a port that is taken, and a port that is given after the first worker of the process has started', async () => {
  const taken = Number(new URL(`tcp://${stello.servers.temporalAddress}`).port)
  const agent = { llm: scriptedModel([]) }
  await expect(stello.work(agent, { metricsPort: taken })).rejects.toThrow(`cannot be served on port ${taken}`)
  await stello.work(agent)
  await expect(stello.work(agent, { metricsPort: await quietPort() })).rejects.toThrow('has a runtime without metrics')
})
