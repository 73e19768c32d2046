/** What ends a turn before the model rests by itself. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'

const stello = useStello()

it('asks the model at most maxToolRounds + 1 times and answers each call beyond the limit', async () => {
  let ran = 0
  const again = tool('again', 'Asks for more', z.object({}), () => `run ${++ran}`)
  const llm = scriptedModel(
    replyBy([
      ['bye', 'Bye.'],
      [() => true, { content: 'More.', toolCalls: [{ name: 'again' }, { name: 'again' }] }],
    ]),
  )
  const session = await stello.session({ llm, maxToolRounds: 2, capabilities: { tools: [again] } })
  const result = await (await session.send('go')).result()
  expect(result).toMatchObject({ stopReason: 'max_tool_rounds', text: 'More.', rounds: 2 })
  expect(llm.calls).toHaveLength(3)
  expect(ran).toBe(4)
  const transcript = await session.transcript()
  expect(transcript.slice(-3).map(({ role, content }) => [role, content.split(':')[0]])).toEqual([
    ['assistant', 'More.'],
    ['tool', 'TOOL_ROUND_LIMIT'],
    ['tool', 'TOOL_ROUND_LIMIT'],
  ])
  const asked = transcript.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))
  expect(transcript.flatMap(({ toolCallId }) => toolCallId ?? [])).toEqual(asked)
  expect(await ask(session, 'bye')).toBe('Bye.')
})

it('runs no tool at all with maxToolRounds 0', async () => {
  let ran = 0
  const count = tool('count', 'Counts', z.object({}), () => `${++ran}`)
  const llm = scriptedModel([{ toolCalls: [{ name: 'count' }] }])
  const session = await stello.session({ llm, maxToolRounds: 0, capabilities: { tools: [count] } })
  expect(await (await session.send('go')).result()).toMatchObject({ stopReason: 'max_tool_rounds' })
  expect([ran, llm.calls.length]).toEqual([0, 1])
})

it.each([0, 1])(
  'counts attempt_completion in the last of %i rounds, and runs nothing beside it',
  async (maxToolRounds) => {
    let ran = 0
    const count = tool('count', 'Counts', z.object({}), () => `${++ran}`)
    const complete = (result: unknown) => ({ name: 'attempt_completion', arguments: { result } })
    const last = { content: 'Nearly.', toolCalls: [{ name: 'count' }, complete(1), complete('42.'), complete('43.')] }
    const llm = scriptedModel([...(maxToolRounds > 0 ? [{ toolCalls: [{ name: 'count' }] }] : []), last, 'Bye.'])
    const session = await stello.session({ llm, maxToolRounds, systemTools: true, capabilities: { tools: [count] } })
    const result = await (await session.send('go')).result()
    expect(result).toMatchObject({ stopReason: 'completed', text: '42.', rounds: maxToolRounds })
    expect(ran).toBe(maxToolRounds)
    const results = (await session.transcript()).slice(-4)
    expect(results.map(({ content, isError }) => [content.split(':')[0], isError])).toEqual([
      ['TOOL_ROUND_LIMIT', true],
      ['TOOL_ROUND_LIMIT', true],
      ['42.', undefined],
      ['TOOL_ROUND_LIMIT', true],
    ])
    const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
    expect(events.at(-1)?.data).toMatchObject({ stopReason: 'completed', text: '42.' })
    expect(await ask(session, 'more')).toBe('Bye.')
  },
)

it('ends the turn with the result of attempt_completion', async () => {
  const llm = scriptedModel(
    replyBy([
      [
        'go',
        { content: 'Nearly.', toolCalls: [{ name: 'attempt_completion', arguments: { result: 'The answer is 42.' } }] },
      ],
      ['more', 'Nothing more.'],
    ]),
  )
  const session = await stello.session({ llm, systemTools: true })
  expect(await (await session.send('go')).result()).toMatchObject({
    stopReason: 'completed',
    text: 'The answer is 42.',
  })
  expect(llm.calls).toHaveLength(1)
  expect(await ask(session, 'more')).toBe('Nothing more.')
})

it('gives the whole result of attempt_completion, however long', async () => {
  const long = 'word '.repeat(5000)
  const llm = scriptedModel([{ toolCalls: [{ name: 'attempt_completion', arguments: { result: long } }] }])
  const session = await stello.session({ llm, systemTools: true })
  expect(await ask(session, 'go')).toBe(long)
})
