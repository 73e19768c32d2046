/** The end of a call, as people and the workflow are told of it. */
import { expect, it } from 'vitest'
import { settlement, type CallEnded } from '../../../src/activities/tool/finish.ts'
import { StelloError } from '../../../src/core/errors.ts'

const input = {
  sessionId: 's-1',
  key: 't1.0.0',
  gen: 0,
  turn: 1,
  base: 1,
  place: { seq: 1, told: 0 },
  messageId: 'm',
  round: 0,
  index: 0,
  seq: 2,
  call: { id: 'c-1', name: 'look' },
}

function ended(over: Partial<CallEnded>) {
  const { outcome, writes } = settlement({
    input,
    claim: { gen: 0 },
    chain: '',
    durationMs: 5,
    end: { value: 1 },
    ...over,
  })
  return { outcome, events: (writes.events ?? []).map(({ key, type, data }) => ({ key, type, data })) }
}

it('the tool’s name for its failure reaches the event and, cut, the statistics', () => {
  const error = { type: 'not_found', code: `E-${'東'.repeat(40)}`, message: 'no such city' }
  const { outcome, events } = ended({ end: { value: { success: false, error } } })
  expect(events).toMatchObject([
    { type: 'tool.status', data: { status: 'ERROR', error: { type: 'not_found', code: error.code } } },
  ])
  expect(outcome).toMatchObject({ isError: true, error: `E-${'東'.repeat(11)}…` })
  expect(ended({ end: { value: { success: false, error: { type: 'busy' } } } }).outcome).toMatchObject({
    error: 'busy',
  })
})

it('an error of this project has its own code, and no name that the tool gave', () => {
  const { outcome, events } = ended({ end: { error: new StelloError('TOOL_TIMEOUT', 'too late') } })
  expect(outcome).toMatchObject({ code: 'TOOL_TIMEOUT' })
  expect(outcome).not.toHaveProperty('error')
  expect(events[0]?.data).not.toHaveProperty('error')
})

it('the last update of each kind is told once more with the end, before its card', () => {
  const updates = [
    ['progress', { progress: 'almost' }],
    ['update', { percent: 99 }],
  ] as const
  const told = { card: { status: 'DOING' as const, showTip: 'Looking' }, updates }
  const { events } = ended({ told, input: { ...input, call: { ...input.call, title: 'Look around' } } })
  const names = { callId: 'c-1', name: 'look', title: 'Look around' }
  expect(events).toMatchObject([
    { type: 'tool.update', data: { ...names, update: { progress: 'almost' } } },
    { type: 'tool.update', data: { ...names, update: { percent: 99 } } },
    { type: 'tool.status', data: { ...names, status: 'SUCCESS', showTip: 'Looking' } },
  ])
})
