/**
 * Much more comes in than a session takes. What it tells the store, and so its history, stays small, and nothing is
 * forgotten.
 */
import { expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import {
  QUEUE_LIMIT,
  REFUSALS_AT_ONCE,
  REFUSALS_CARRIED,
  SWITCHES_AT_ONCE,
  TELLS_AT_REST,
  type SessionState,
} from '../../../src/session/state.ts'
import { announcedEvents, rejectionKey } from '../../../src/protocol/events.ts'
import { announced, bytes, message, only, open, opened, pause, play, resume, type Played } from './play.ts'

const BURST = 10_000
const many = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i))
const paused = (): Played => answer(play(opened(), pause), 'pause')
const id = (i: number): string => `m${i}`.padEnd(128, '-')
const burst = many(BURST, (i) => message(id(i), i < QUEUE_LIMIT ? 'hello' : '東'.repeat(500)))
const resting = (state: SessionState): SessionState => ({ ...state, resting: true })
const rejection: Input = { type: 'answerRejected', reason: 'x'.repeat(1000), preview: '' }

/** The store has heard of the last announcement of that tag. */
function answer(played: Played, tag: string): Played {
  const { state, commands } = play(played.state, announced(played, tag))
  return { state, commands: [...played.commands, ...commands] }
}

/** The store hears of one announcement after another, until there are none left. */
function answerAll(played: Played): Played {
  let { state } = played
  const commands = [...played.commands]
  for (const command of commands) {
    if (command.type !== 'announce') continue
    const { key, gen } = command.input
    const next = play(state, { type: 'announced', key, tag: command.tag, outcome: { gen, children: [] } })
    state = next.state
    commands.push(...next.commands)
  }
  return { state, commands }
}

const told = ({ commands }: Played) => only(commands, 'announce').map(({ input }) => input)
/** The key under which the store keeps the events. */
const keys = (played: Played): string[] =>
  told(played).flatMap((input) => announcedEvents(input.told, input.events).map(({ key }) => key))

it('each of many refused messages is told once, in bounded batches, one after another', () => {
  const begun = play(paused().state, ...burst)
  expect(told(begun)).toHaveLength(1)
  const all = answerAll(begun)
  expect(keys(all)).toEqual(many(BURST - QUEUE_LIMIT, (i) => rejectionKey(id(QUEUE_LIMIT + i))))
  expect(told(all)).toHaveLength(1 + Math.ceil((BURST - QUEUE_LIMIT - 1) / REFUSALS_AT_ONCE))
  expect(Math.max(...told(all).map(bytes))).toBeLessThan(100 * 1024)
  expect(all.state.refusals).toBeUndefined()
  expect(all.state.queue).toHaveLength(QUEUE_LIMIT)
})

it('a resume and a close do not wait behind refusals', () => {
  const begun = play(paused().state, ...burst)
  expect(only(play(begun.state, resume).commands, 'announce')).toMatchObject([{ tag: 'resume' }])
  const closing: Input = { type: 'closeRequested', cascade: false }
  expect(only(play(begun.state, closing).commands, 'announce')).toMatchObject([{ tag: 'close' }])
})

it('answers that are refused are told like messages', () => {
  const all = answerAll(play(opened(), ...many(BURST, () => rejection)))
  expect(keys(all)).toHaveLength(BURST)
  expect(new Set(keys(all)).size).toBe(BURST)
  expect(told(all).length).toBeLessThan(60)
})

it('a message that is refused once more while its refusal waits is told once', () => {
  const begun = play(paused().state, ...many(QUEUE_LIMIT + 1, (i) => message(id(i))))
  const once = play(begun.state, message('twice')).state
  const twice = play({ ...once, seen: [] }, message('twice')).state
  expect(keys(play(twice, announced(begun, 'refused')))).toEqual([rejectionKey('twice')])
})

it('a message that waits is known, however many have come and been refused since then', () => {
  const { state } = play(paused().state, ...burst)
  expect(play(state, message(id(0)))).toEqual({ state, commands: [] })
})

it('of many pauses and resumes the last one holds, and few are told', () => {
  const begun = play(opened(), ...many(BURST, (i) => (i % 2 === 0 ? pause : resume)))
  expect(told(begun)).toHaveLength(SWITCHES_AT_ONCE)
  const all = answerAll(begun)
  expect(told(all)).toHaveLength(SWITCHES_AT_ONCE + 1)
  expect(told(all).at(-1)?.pause).toBeNull()
  expect([all.state.resuming, all.state.pause, all.state.switchWaits]).toEqual([undefined, undefined, undefined])
  const again = answerAll(play(all.state, ...many(BURST + 1, (i) => (i % 2 === 0 ? pause : resume))))
  expect(told(again).at(-1)?.pause).toMatchObject({ reason: 'user' })
  expect(again.state.pause).toMatchObject({ reason: 'user' })
})

it('a run that is to end tells little, and the next run tells what it held back', () => {
  let played: Played = { state: resting(opened()), commands: [] }
  for (const event of many(1000, (i) => (i % 3 === 0 ? pause : i % 3 === 1 ? resume : rejection))) {
    const next = answerAll(play(played.state, event))
    played = { state: next.state, commands: [...played.commands, ...next.commands] }
  }
  expect(told(played).length).toBeLessThanOrEqual(TELLS_AT_REST + 1000 / 3 / REFUSALS_CARRIED + 1)
  expect(played.state.refusals?.flat().length).toBeLessThanOrEqual(REFUSALS_CARRIED)
  const next = answerAll(play(played.state, { type: 'runStarted' }, open()))
  expect(
    keys(played)
      .concat(keys(next))
      .filter((key) => key.startsWith('a')).length,
  ).toBeGreaterThan(0)
  expect(told(next).some(({ pause: told }) => told !== undefined)).toBe(true)
  const { refusals, refusing, switchWaits } = next.state
  expect([refusals, refusing, switchWaits]).toEqual([undefined, undefined, undefined])
})
