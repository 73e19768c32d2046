/** A model call that waits for its provider: only people are told, and the call goes on by itself. */
import { expect, it } from 'vitest'
import { status } from '../../../src/session/state.ts'
import type { Input } from '../../../src/session/inputs.ts'
import { asks, message, model, opened, play, rests, types } from './play.ts'

const report = (turn: number, round: number, why = '429'): Input => ({
  type: 'weatherReported',
  report: { turn, round, provider: 'openai', why, since: '2026-11-22T14:32:10.000Z' },
})

it('A session whose model call waits is waiting, and begins nothing for it', () => {
  const { state, commands } = play(play(opened(), message('a')).state, report(1, 0))
  expect(status(state)).toBe('waiting')
  expect(state.turn?.weather).toEqual({ provider: 'openai', why: '429', since: '2026-11-22T14:32:10.000Z' })
  expect(types(commands)).toEqual([])
})

it.each([
  ['answers', rests(1, 0, 2)],
  ['calls a tool', asks(1, 0, 2, 'look')],
  ['pauses the session', model(1, 0, { kind: 'failed', pause: { reason: 'model_error', message: 'away' } })],
  [
    'cannot be carried out',
    { type: 'stepFailed', step: { of: 'model', turn: 1, round: 0 }, code: 'STORE_CORRUPT', message: '' } as const,
  ],
])('The weather is over when the call %s', (_how, ended) => {
  const { state } = play(play(opened(), message('a')).state, report(1, 0), ended)
  expect(state.turn?.weather).toBeUndefined()
  expect(status(state)).not.toBe('waiting')
})

it('A report that comes late changes nothing', () => {
  for (const before of [
    play(opened(), message('a'), rests(1, 0, 2)).state,
    play(opened(), message('a'), asks(1, 0, 2, 'look')).state,
  ]) {
    expect(play(before, report(1, 0)).state).toEqual(before)
  }
})

it('A long report is cut', () => {
  const { state } = play(play(opened(), message('a')).state, report(1, 0, '東'.repeat(5000)))
  expect(JSON.stringify(state.turn?.weather).length).toBeLessThan(500)
})
