/** What people have stopped or paused stays so, whatever comes in behind it from a step that was under way. */
import { describe, expect, it } from 'vitest'
import type { Pause } from '../../../src/core/pause.ts'
import type { Awaits } from '../../../src/protocol/steps.ts'
import type { Input } from '../../../src/session/inputs.ts'
import { asks, cancel, message, model, only, open, opened, pause, play, result, tool, type Played } from './play.ts'

/** A run that an older version has begun. */
const OLDER: readonly Input[] = [{ type: 'runStarted', older: true }, open()]

const away: Pause = { reason: 'agent_error', message: 'its tools are away', clears: 'weather', nextTryAt: 'later' }

describe('a pause by a person', () => {
  const paused = (...before: Input[]): Played =>
    play(opened(), ...before, message('a'), pause, model(1, 0, { kind: 'failed', pause: away }))

  it('gives way to a reason that leaves the session more stuck, but not to its promise to try again', () => {
    const { state, commands } = paused()
    expect(state.pause).toMatchObject({ reason: 'agent_error' })
    expect(state.pause).not.toHaveProperty('nextTryAt')
    expect(only(commands, 'tryAgain')).toEqual([])
    expect(play(state, { type: 'tryDue', at: 'later' }).commands).toEqual([])
  })

  it('went on by itself in runs of an older version, which replay so', () => {
    expect(only(paused(...OLDER).commands, 'tryAgain')).toHaveLength(1)
  })
})

describe('a compaction that a person has asked for and then stopped', () => {
  const failed: Input = { type: 'compacted', key: 'c1', outcome: { kind: 'failed', pause: away } }
  const stopped = (...before: Input[]): Played =>
    play(opened(), ...before, { type: 'compactRequested' }, cancel, failed)

  it('does not pause the session when it fails', () => {
    const { state, commands } = stopped()
    expect(state.pause).toBeUndefined()
    expect(only(commands, 'announce')).toEqual([])
  })

  it('pauses the session when it fails and nobody has stopped it', () => {
    expect(play(opened(), { type: 'compactRequested' }, failed).state.pause).toMatchObject({ reason: 'agent_error' })
  })

  it('paused the session in runs of an older version, which replay so', () => {
    expect(stopped(...OLDER).state.pause).toBeDefined()
  })
})

describe('the agents of a call that is stopped while it looks', () => {
  const waits = (awaits: Partial<Awaits>): Input =>
    tool(1, 0, 0, { kind: 'awaits', gen: 0, awaits: { nth: 0, agents: ['s-a', 's-b'], ...awaits } })
  const told: Input = { type: 'agentReported', report: { childId: 's-a', childGen: 0, childTurn: 1 } }
  const ended = result({ isError: true, code: 'TOOL_CANCELLED' })
  const lost: Input = { type: 'toolLost', turn: 1, round: 0, index: 0, how: 'cancelled' }
  const looks = (awaits: Partial<Awaits>, ...before: Input[]): Played =>
    play(opened(), ...before, message('a'), asks(1, 0, 2, 'Task'), waits(awaits), told)
  const stoppedBy = ({ state }: Played, ...inputs: Input[]): string[] =>
    only(play(state, ...inputs).commands, 'cancelChild').map(({ childId }) => childId)

  it.each<[string, Input]>([
    ['ends it as stopped', tool(1, 0, 0, ended)],
    ['is lost', lost],
  ])('are stopped if they are its own and its activity %s', (_how, end) => {
    expect(stoppedBy(looks({ stops: true }), cancel, end)).toEqual(['s-a', 's-b'])
    expect(stoppedBy(looks({}), cancel, end)).toEqual([])
    expect(stoppedBy(looks({ stops: true }, ...OLDER), cancel, end)).toEqual([])
  })

  it('are left alone if the call has ended by itself', () => {
    expect(stoppedBy(looks({ stops: true }), tool(1, 0, 0, result()))).toEqual([])
  })
})
