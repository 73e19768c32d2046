import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { status } from '../../../src/session/state.ts'
import {
  announced,
  asks,
  callRef,
  cancel,
  child,
  message,
  only,
  opened,
  pause,
  play,
  result,
  resume,
  tool,
  types,
} from './play.ts'

const asked = play(opened(), message('a'), asks(1, 0, 2, callRef('new_task', { route: 'task' }))).state
const prepared = tool(1, 0, 0, { kind: 'childOpened', gen: 0, child: child() })
const reported = (childId = 's-child', callKey = 't1.0.0'): Input => ({
  type: 'childReported',
  report: { childId, childGen: 0, childTurn: 1, callKey },
})
const proposals = (commands: ReturnType<typeof play>['commands']) =>
  only(commands, 'settleTool').map(({ input }) => input.proposed.kind)

describe('a call that awaits a child', () => {
  it('starts it and waits', () => {
    const { state, commands } = play(asked, prepared)
    expect(only(commands, 'startChild')).toMatchObject([
      { callKey: 't1.0.0', awaited: true, child: { sessionId: 's-child' } },
    ])
    expect(status(state)).toBe('waiting')
    expect(state.forks).toEqual([{ id: 's-child', label: 'label of s-child' }])
  })

  it('is not all that the session does while another call runs', () => {
    const both = play(opened(), message('a'), asks(1, 0, 2, callRef('new_task', { route: 'task' }), 'Read'), prepared)
    expect(status(both.state)).toBe('running')
    expect(status(play(both.state, tool(1, 0, 1)).state)).toBe('waiting')
  })

  it('ends with the report of the child', () => {
    const { commands } = play(asked, prepared, reported(), tool(1, 0, 0))
    expect(proposals(commands)).toEqual(['childEnded'])
    expect(types(commands).at(-1)).toBe('callModel')
  })

  it('takes a report that came before the call was known to wait', () => {
    const { state, commands } = play(asked, reported(), prepared)
    expect(types(commands)).toEqual(['startChild', 'settleTool'])
    expect(play(state, tool(1, 0, 0)).state.reports).toEqual([])
  })

  it('takes no report of another child, early or late', () => {
    expect(proposals(play(asked, reported('s-old'), prepared, reported('s-other')).commands)).toEqual([])
  })

  it('takes a report once', () => {
    const { state, commands } = play(asked, prepared, reported(), reported())
    expect(proposals(commands)).toEqual(['childEnded'])
    expect(state.reports).toHaveLength(1)
  })

  it('keeps the report if settling fails, and finds it again after resume', () => {
    const failed = play(asked, prepared, reported(), {
      type: 'stepFailed',
      code: 'STORE_CORRUPT',
      step: { of: 'tool', turn: 1, round: 0, index: 0 },
      message: 'bad row',
    })
    const resuming = play(failed.state, resume)
    const { commands } = play(resuming.state, announced(resuming, 'resume'), prepared)
    expect(types(commands)).toEqual(['callTool', 'startChild', 'settleTool'])
  })

  it('ends with an error when the child vanished', () => {
    const vanished: Input = {
      type: 'childVanished',
      callKey: 't1.0.0',
      childId: 's-child',
      message: 'terminated',
    }
    expect(proposals(play(asked, prepared, vanished).commands)).toEqual(['childLost'])
    expect(proposals(play(asked, prepared, { ...vanished, childId: 's-old' }).commands)).toEqual([])
  })

  it('tells the child to stop when the turn is cancelled', () => {
    const { commands } = play(asked, prepared, cancel)
    expect(only(commands, 'cancelChild')).toEqual([{ type: 'cancelChild', childId: 's-child' }])
    expect(proposals(commands)).toEqual(['cancelled'])
  })

  it('starts a child that was prepared before the pause, because its record exists', () => {
    expect(only(play(asked, pause, prepared).commands, 'startChild')).toHaveLength(1)
  })

  it('does not keep the configuration of the child', () => {
    expect(play(asked, prepared).state.turn?.calls[0]?.child).toEqual({
      sessionId: 's-child',
      label: 'label of s-child',
    })
  })
})

describe('a fork', () => {
  it('is started and not awaited: its call has ended', () => {
    const forked = tool(1, 0, 0, { kind: 'childOpened', gen: 0, child: child(), result: result() })
    expect(play(asked, forked).commands).toMatchObject([{ type: 'startChild', awaited: false }, { type: 'callModel' }])
  })
})

describe('a task that is cancelled before the session has heard of its child', () => {
  const lost = play(asked, cancel, { type: 'toolLost', turn: 1, round: 0, index: 0, how: 'cancelled' })

  it('asks the ledger whether there is one', () => {
    expect(only(lost.commands, 'settleTool')).toMatchObject([{ input: { opening: true, step: { key: 't1.0.0' } } }])
  })

  it('starts the child that was prepared, then stops it, and asks for its own end', () => {
    const { commands } = play(lost.state, prepared)
    expect(types(commands)).toEqual(['startChild', 'settleTool', 'cancelChild'])
    const [settled] = only(commands, 'settleTool')
    expect(settled?.input).not.toHaveProperty('opening')
    expect(settled?.input.proposed).toEqual({ kind: 'cancelled' })
  })
})
