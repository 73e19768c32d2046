/** The parts of a model's answer that reach the workflow: at most what its state has room for. */
import { describe, expect, it } from 'vitest'
import { toAnswer } from '../../../src/activities/model/model-answer.ts'
import { createStelloAgent } from '../../../src/agent/agent.ts'
import { jsonBytes, type ToolCall } from '../../../src/core/message.ts'
import { sessionTools } from '../../../src/agent/tool-list.ts'
import type { SessionConfig } from '../../../src/protocol/config.ts'
import type { CallRef, ModelAnswer } from '../../../src/protocol/steps.ts'
import type { Writes } from '../../../src/store/ledger/writes.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { fieldOf } from '../../support/events.ts'

const usage = { inputTokens: 1, outputTokens: 1 }

/** The calls the workflow hears of when the model asks for these. */
function taken(toolCalls: ToolCall[]): CallRef[] {
  return answerOf(toolCalls, false).outcome.calls
}

function answerOf(toolCalls: ToolCall[], last: boolean): { outcome: ModelAnswer; writes: Writes } {
  const agent = createStelloAgent({ name: 'a', llm: scriptedModel(() => 'ok'), systemTools: true })
  const config: SessionConfig = { agent: 'a', label: 'main', model: 'agent', tools: 'agent' }
  const step = { sessionId: 's-1', key: 'm1.0', gen: 0, turn: 1, base: 0, place: { seq: 1, told: 0 } }
  const ending = toAnswer({
    deps: { agent, log: { warn: () => undefined } },
    input: { ...step, messageId: 'm', round: 0, upTo: 1, last },
    claim: { kind: 'mine', gen: 0, lease: 1, failures: 0, deaths: 0, begun: false },
    config,
    rootId: 's-1',
    tools: sessionTools(agent, config),
    titles: new Map([['attempt_completion', `Done ${'東'.repeat(50)}`]]),
    model: agent.llm,
    chain: '',
    completion: { content: '', toolCalls, usage, finishReason: 'tool_calls' },
  })
  if (ending.kind !== 'settle' || ending.outcome.kind !== 'answered') throw new Error('no answer')
  return { outcome: ending.outcome, writes: ending.writes }
}

describe('calls of a model', () => {
  it.each(['x', '東', '🎓', '"', '\u0001'])('are kept short, in bytes, if they are made of %j', (char) => {
    const long = char.repeat(1000)
    const calls = taken(Array.from({ length: 200 }, () => ({ id: long, name: long, arguments: long })))
    expect(calls).toHaveLength(128)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(128)
    for (const { id, name, preview } of calls) {
      expect([jsonBytes(id) <= 68, jsonBytes(name) <= 64, jsonBytes(preview) <= 100]).toEqual([true, true, true])
    }
  })

  it('are stored with names and ids that every provider takes, and with what the model wrote', () => {
    const call = { arguments: '[1]' }
    const { writes, outcome } = answerOf(
      [
        { ...call, id: 'functions.look:0', name: 'functions.look' },
        { ...call, id: 'functions.look:0', name: '' },
        { ...call, id: '', name: 'attempt completion' },
        { ...call, id: 'é'.repeat(50), name: 'b'.repeat(65) },
      ],
      false,
    )
    expect(writes.records?.[0]?.message.toolCalls).toEqual([
      { ...call, id: 'functions_look_0', name: 'functions_look', wrote: 'functions.look' },
      { ...call, id: 'functions_look_0_1', name: 'unnamed', wrote: '' },
      { ...call, id: 'call', name: 'invalid_attempt_completion', wrote: 'attempt completion' },
      { ...call, id: '_', name: 'b'.repeat(64), wrote: 'b'.repeat(65) },
    ])
    expect(outcome.calls.map(({ route }) => route)).toEqual(['tool', 'tool', 'tool', 'tool'])
  })

  it('keep an id that is short as it is', () => {
    expect(taken([{ id: 'call_0123456789', name: 'Read', arguments: '{}' }])).toMatchObject([
      { id: 'call_0123456789', name: 'Read', preview: '{}' },
    ])
  })
})

it('a call is known to people by its name for people, cut', () => {
  const call = { id: 'c', name: 'attempt_completion', arguments: '{"result":"42."}' }
  const title = `Done ${'東'.repeat(10)}…`
  const { outcome, writes } = answerOf([call], false)
  expect(outcome.calls).toMatchObject([{ name: 'attempt_completion', title }])
  expect(fieldOf(writes.events?.[0]?.data, 'calls')).toMatchObject([{ name: 'attempt_completion', title }])
  expect(answerOf([call], true).writes.events?.[1]?.data).toMatchObject({ status: 'SUCCESS', title })
  expect(answerOf([{ ...call, name: 'other' }], false).outcome.calls[0]).not.toHaveProperty('title')
})

describe('the last answer that is allowed', () => {
  const complete = (result: unknown, id = 'c'): ToolCall => {
    return { id, name: 'attempt_completion', arguments: JSON.stringify({ result }) }
  }
  const other = { id: 'o', name: 'stello_create_session', arguments: '{"label":"l"}' }

  it('counts the first attempt_completion that can be read; nothing else runs', () => {
    const { outcome, writes } = answerOf([other, complete(1, 'x'), complete('42.'), complete('43.', 'y')], true)
    expect(outcome).toMatchObject({ stopReason: 'completed', text: '42.', calls: [], seq: 6 })
    expect(writes.turns).toMatchObject([{ stopReason: 'completed', text: '42.' }])
    expect(writes.records?.map(({ seq, message }) => [seq, message.toolCallId, message.content.slice(0, 16)])).toEqual([
      [2, undefined, ''],
      [3, 'o', 'TOOL_ROUND_LIMIT'],
      [4, 'x', 'TOOL_ROUND_LIMIT'],
      [5, 'c', '42.'],
      [6, 'y', 'TOOL_ROUND_LIMIT'],
    ])
    expect(writes.events?.map(({ type, data }) => [type, fieldOf(data, 'status') ?? fieldOf(data, 'text')])).toEqual([
      ['message.completed', ''],
      ['tool.status', 'SUCCESS'],
      ['turn.completed', '42.'],
    ])
  })

  it('ends at the limit if it has none', () => {
    expect(answerOf([other], true).outcome).toMatchObject({ stopReason: 'max_tool_rounds', text: '' })
  })

  it('is not the usual case: elsewhere the call is made like any call', () => {
    const { outcome } = answerOf([complete('42.')], false)
    expect(outcome).not.toHaveProperty('stopReason')
    expect(outcome.calls).toMatchObject([{ name: 'attempt_completion' }])
  })
})
