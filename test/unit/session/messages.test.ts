import { describe, expect, it } from 'vitest'
import { fnv1a } from '../../../src/protocol/keys.ts'
import { SEEN_LIMIT } from '../../../src/session/state.ts'
import { announced, message, only, opened, play, rests } from './play.ts'

const openings = (commands: ReturnType<typeof play>['commands']) =>
  only(commands, 'callModel').map(({ input }) => input.opening)

describe('messages', () => {
  it('are answered one at a time, in order of arrival', () => {
    const { commands } = play(opened(), message('a'), message('b'), message('c'), rests(1, 0, 2), rests(2, 0, 4))
    expect(openings(commands).map((opening) => opening?.messageId)).toEqual(['a', 'b', 'c'])
  })

  it('are taken once, however often they are sent', () => {
    const { state } = play(opened(), message('a'), message('a'), rests(1, 0, 2), message('a'))
    expect(state).toMatchObject({ turns: 1, queue: [] })
  })

  it('that are being answered are neither taken again nor refused, however many came meanwhile', () => {
    const others = Array.from({ length: SEEN_LIMIT }, (_, n) => message(`other-${n}`))
    const { state } = play(opened(), message('a'), ...others)
    expect(state.turn?.opening.messageId).toBe('a')
    expect(state.seen).not.toContain('a')
    expect(play(state, message('a'))).toEqual({ state, commands: [] })
  })

  it('are both answered if their ids have one FNV-1a fingerprint', () => {
    const [one, other] = ['order-I_I9J7G-xpM0MG1_jDEBJu', 'order-M5zW47ORY6L_DBT8YLFEKJ']
    expect(fnv1a(one)).toBe(fnv1a(other))
    const { commands } = play(opened(), message(one), message(other), rests(1, 0, 2))
    expect(openings(commands).map((opening) => opening?.messageId)).toEqual([one, other])
  })

  it('without text are read from the store', () => {
    expect(openings(play(opened(), { type: 'messageReceived', messageId: 'a' }).commands)).toEqual([{ messageId: 'a' }])
  })

  it('of more than 4096 bytes go to the store before their turn opens', () => {
    const long = play(opened(), message('a', 'x'.repeat(4097)))
    expect(only(long.commands, 'callModel')).toEqual([])
    expect(only(long.commands, 'announce')).toMatchObject([{ tag: 'message', input: { message: { messageId: 'a' } } }])
    expect(openings(play(long.state, announced(long, 'message')).commands)).toEqual([{ messageId: 'a' }])
  })

  it('keep their place if they come after one that is being stored', () => {
    const long = play(opened(), message('a', 'x'.repeat(4097)), message('b'))
    expect(openings(long.commands)).toEqual([])
  })

  it('of exactly 4096 bytes stay where they are', () => {
    expect(only(play(opened(), message('a', 'x'.repeat(4096))).commands, 'callModel')).toHaveLength(1)
    expect(only(play(opened(), message('a', `x${'東'.repeat(1365)}`)).commands, 'callModel')).toHaveLength(1)
    expect(only(play(opened(), message('a', `xx${'東'.repeat(1365)}`)).commands, 'callModel')).toEqual([])
  })

  it('that are malformed become an event, not a turn', () => {
    const { commands } = play(opened(), { type: 'messageRejected', reason: 'no messageId', preview: '{}' })
    expect(commands).toMatchObject([
      {
        type: 'announce',
        input: { events: [{ type: 'message.rejected', data: { reason: 'no messageId', preview: '{}' } }] },
      },
    ])
  })
})
