/** Calls that wait for agents, and what agents tell. */
import { describe, expect, it } from 'vitest'
import type { AgentReport, Awaits } from '../../../src/protocol/steps.ts'
import type { Input } from '../../../src/session/inputs.ts'
import { pendingCalls } from '../../../src/session/answers.ts'
import { awaitedAgents } from '../../../src/session/await-agents.ts'
import { initialState } from '../../../src/session/state.ts'
import { announced, asks, cancel, message, only, open, opened, pause, play, rests, resume, tool } from './play.ts'

const UNTIL = '2030-01-01T00:00:00.000Z'
const waits = (awaits: Partial<Awaits> = {}): Input =>
  tool(1, 0, 0, { kind: 'awaits', gen: 0, awaits: { nth: 0, agents: ['s-a', 's-b'], ...awaits } })
const told = (childId: string, over: Partial<AgentReport> = {}): Input => ({
  type: 'agentReported',
  report: { childId, childGen: 0, childTurn: 1, ...over },
})
const asked = () => play(opened(), message('m1'), asks(1, 0, 2, 'wait-agent')).state
const begun = (played: ReturnType<typeof play>) => only(played.commands, 'callTool')

describe('a call that waits for agents', () => {
  it('runs again when one of them has told something, and knows what it waited for', () => {
    const played = play(asked(), waits({ until: UNTIL }))
    expect(played.commands).toEqual([{ type: 'endWait', callKey: 't1.0.0', until: UNTIL }])
    expect(begun(play(played.state, told('s-other')))).toEqual([])
    const again = begun(play(played.state, told('s-b')))
    expect(again).toHaveLength(1)
    expect(again[0]?.input.waited).toMatchObject({ nth: 0, until: UNTIL })
  })

  it('looks again at once if an agent told something while it ran', () => {
    expect(begun(play(asked(), told('s-a'), waits()))).toHaveLength(1)
    expect(begun(play(asked(), waits()))).toEqual([])
  })

  it('runs again when its time is over, also if that happens while it runs, and promises the time once', () => {
    const over: Input = { type: 'waitOver', callKey: 't1.0.0', until: UNTIL }
    const late = play(asked(), waits({ until: UNTIL }), over)
    expect(begun(late)[0]?.input.waited?.over).toBe(true)
    const running = play(asked(), waits({ until: UNTIL }), told('s-a'), over, waits({ until: UNTIL }))
    expect(begun(running)).toHaveLength(2)
    expect(begun(running)[1]?.input.waited?.over).toBe(true)
    expect(only(running.commands, 'endWait')).toHaveLength(1)
    expect(begun(play(asked(), waits({ until: UNTIL }), { ...over, until: '2031-01-01T00:00:00.000Z' }))).toEqual([])
  })

  it('is woken by nobody and keeps no message from the parent while it waits for a person', () => {
    const parked = tool(1, 0, 0, { kind: 'pending', gen: 0, item: { id: 't1.0.0@0.1', kind: 'question' } })
    const asking = play(asked(), waits({ until: UNTIL }), told('s-a'), parked).state
    const news = play(asking, told('s-b', { message: 'found it' }))
    expect(news.commands).toEqual([])
    expect(news.state.queue).toMatchObject([{ text: 'found it' }])
    const later = play(news.state, { type: 'waitOver', callKey: 't1.0.0', until: UNTIL })
    expect(later.commands).toEqual([])
    expect(awaitedAgents(later.state)).toEqual([])
    expect(later.state.turn?.calls[0]?.awaits?.over).toBe(true)
  })

  it('asks no person any more', () => {
    const parked = tool(1, 0, 0, { kind: 'pending', gen: 0, item: { id: 't1.0.0@0.1', kind: 'question' } })
    const failed = tool(1, 0, 0, { kind: 'failed', pause: { reason: 'agent_error', message: 'gone' } })
    const answer: Input = { type: 'answered', answer: { id: 't1.0.0@0.1', decision: 'answer', text: 'yes' } }
    const resuming = play(asked(), parked, answer, failed, resume)
    const { state } = play(resuming.state, announced(resuming, 'resume'), waits())
    expect(pendingCalls(state)).toEqual([])
    expect(begun(play(state, told('s-a')))).toHaveLength(1)
  })

  it('is promised its time anew by each run', () => {
    const { state } = play(asked(), waits({ until: UNTIL }))
    expect(only(play(state, { type: 'runStarted' }).commands, 'endWait')).toHaveLength(1)
  })

  it('begins nothing while the session is paused', () => {
    const played = play(asked(), waits(), pause, told('s-a'))
    expect(begun(played)).toEqual([])
  })

  it('stops its agents with the turn only if they are its own', () => {
    const stopped = (awaits: Partial<Awaits>) => only(play(asked(), waits(awaits), cancel).commands, 'cancelChild')
    expect(stopped({})).toEqual([])
    expect(stopped({ stops: true }).map(({ childId }) => childId)).toEqual(['s-a', 's-b'])
  })

  it('looks when an agent has vanished', () => {
    const vanished: Input = { type: 'childVanished', callKey: 't1.0.0', childId: 's-a', message: 'gone' }
    expect(begun(play(asked(), waits(), vanished))).toHaveLength(1)
  })
})

describe('an agent', () => {
  it('tells its parent about each turn, and about its close', () => {
    const agent = opened({ tells: { parentId: 's-parent' } })
    const { commands } = play(agent, message('m1'), rests(1, 0, 2), message('m2'), rests(2, 0, 4))
    expect(only(commands, 'tellParent').map(({ parentId, report }) => [parentId, report.childTurn])).toEqual([
      ['s-parent', 1],
      ['s-parent', 2],
    ])
    expect(only(commands, 'tellParent')[0]?.report.message).toBeUndefined()
  })

  it('whose workflow was lost wakes a parent that waits, and sends no message: perhaps it was told of the turn before', () => {
    const tells = { parentId: 's-parent', notifies: true } as const
    const begun = play(initialState({ sessionId: 's-1', label: 'demo', tells }), { type: 'runStarted' })
    const opening = open()
    if (opening.type !== 'sessionOpened' || opening.outcome.kind !== 'opened') throw new Error('not opened')
    const found = (over: object): Input => ({ ...opening, outcome: { ...opening.outcome, ...over } as never })
    const answered = play(begun.state, found({ seq: 2, turn: 1 }))
    expect(answered.commands).toEqual([
      { type: 'tellParent', parentId: 's-parent', report: { childId: 's-1', childGen: 0, childTurn: 1 } },
    ])
    expect(play(begun.state, found({ seq: 2, turn: 1, unanswered: 'b' })).commands).toMatchObject([
      { type: 'callModel' },
    ])
    expect(play(begun.state, open()).commands).toEqual([])
    expect(play(answered.state, { type: 'runStarted' }, found({})).commands).toMatchObject([{ type: 'openSession' }])
  })

  it('sends its parent a message if it was asked to, but not to a parent that waits', () => {
    const agent = opened({ tells: { parentId: 's-parent', notifies: true } })
    const { commands } = play(agent, message('m1'), rests(1, 0, 2, 'found it'))
    const report = only(commands, 'tellParent')[0]?.report as AgentReport
    expect(report.message).toContain('found it')
    const news: Input = { type: 'agentReported', report }
    const told = play(opened(), news, news)
    expect(told.state.turn?.opening.text).toBe(report.message)
    expect(told.state.queue).toEqual([])
    const waiting = play(asked(), waits({ agents: [report.childId] }), news)
    expect(waiting.state.queue).toEqual([])
    expect(begun(waiting)).toHaveLength(1)
  })
})
