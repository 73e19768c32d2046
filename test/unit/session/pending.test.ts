/** Calls that wait for a person: what is asked, what counts as an answer, and what ends the wait. */
import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { answerProblem, pendingCalls } from '../../../src/session/answers.ts'
import { readAnswer } from '../../../src/protocol/read-answer.ts'
import { ANSWERS_TEXT_LIMIT, status } from '../../../src/session/state.ts'
import { INLINE_TEXT_LIMIT } from '../../../src/protocol/limits.ts'
import type { ToolOutcome, Waiting } from '../../../src/protocol/steps.ts'
import type { Decision } from '../../../src/protocol/pending.ts'
import {
  announced,
  asks,
  cancel,
  close,
  message,
  only,
  opened,
  pause,
  play,
  result,
  resume,
  tool,
  type Played,
} from './play.ts'

const ID = 't1.0.0@0.2'
const pending = (id = ID): Waiting => ({ kind: 'pending', gen: 0, item: { id, kind: 'unknown_outcome' } })
const answer = (decision: Decision, id = ID, text?: string): Input => ({
  type: 'answered',
  answer: { id, decision, ...(text !== undefined && { text: text }) },
})
const lost: Input = { type: 'toolLost', turn: 1, round: 0, index: 0, how: 'timedOut' }
const failed: Input = {
  type: 'stepFailed',
  code: 'STORE_CORRUPT',
  step: { of: 'tool', turn: 1, round: 0, index: 0 },
  message: 'full',
}

const running = (...names: string[]): Played => play(opened(), message('a'), asks(1, 0, 2, ...names))
const waiting = (): Played => play(running('pay').state, tool(1, 0, 0, pending()))

const proposals = ({ commands }: Played): unknown[] => only(commands, 'settleTool').map(({ input }) => input.proposed)
const rejections = ({ commands }: Played): unknown[] =>
  only(commands, 'announce').flatMap(({ input }) =>
    input.events.filter(({ type }) => type === 'answer.rejected').map(({ data }) => data),
  )

describe('a call whose outcome is unknown', () => {
  it('waits: nothing is under way, and the item is shown', () => {
    const { state, commands } = waiting()
    expect(commands).toEqual([])
    expect(status(state)).toBe('waiting')
    expect(pendingCalls(state).map(({ call, item }) => [call.name, item.id])).toEqual([['pay', ID]])
  })

  it('does not hold up the other calls of its round, nor messages that come', () => {
    const { state } = play(running('pay', 'Read').state, tool(1, 0, 0, pending()))
    expect(status(state)).toBe('running')
    const after = play(state, tool(1, 0, 1), message('b'))
    expect(status(after.state)).toBe('waiting')
    expect(after.state.queue).toHaveLength(1)
  })

  it.each(['done', 'not_done', 'retry'] as const)('is decided by the ledger when a person says %s', (decision) => {
    expect(proposals(play(waiting().state, answer(decision)))).toEqual([
      { kind: 'answered', answer: { id: ID, decision } },
    ])
  })

  it('ends with the outcome that the ledger returns, and the model is asked', () => {
    const { state, commands } = play(waiting().state, answer('done', ID, 'paid 3'), tool(1, 0, 0))
    expect(only(commands, 'callModel').map(({ input }) => input.key)).toEqual(['m1.1'])
    expect(state.turn?.calls).toEqual([])
  })

  it('runs again after retry, under the same key, as a call that waits for nobody', () => {
    const again = play(waiting().state, answer('retry'), tool(1, 0, 0, { kind: 'due', gen: 0 }))
    expect(only(again.commands, 'callTool').map(({ input }) => input.key)).toEqual(['t1.0.0'])
    expect(again.state.turn?.calls[0]).not.toHaveProperty('pending')
    expect(again.state.turn?.calls[0]).not.toHaveProperty('answer')
  })

  it('is asked about again if the run after retry dies too; the old answer is not taken for the new question', () => {
    const twice = play(
      waiting().state,
      answer('retry'),
      tool(1, 0, 0, { kind: 'due', gen: 0 }),
      tool(1, 0, 0, pending('t1.0.0@0.4')),
      answer('retry'),
    )
    expect(rejections(twice)).toEqual([{ id: ID, reason: `nothing with the id "${ID}" waits for an answer` }])
    expect(status(twice.state)).toBe('waiting')
    expect(proposals(play(twice.state, answer('done', 't1.0.0@0.4')))).toHaveLength(1)
  })
})

describe('an answer', () => {
  it('counts once: the second is refused', () => {
    const twice = play(waiting().state, answer('not_done'), answer('retry'))
    expect(proposals(twice)).toEqual([{ kind: 'answered', answer: { id: ID, decision: 'not_done' } }])
    expect(rejections(twice)).toEqual([{ id: ID, reason: `"${ID}" has been answered already` }])
  })

  it.each([
    ['to an idle session', opened()],
    ['while the model is asked', play(opened(), message('a')).state],
    ['to another call', running('pay').state],
  ])('%s changes nothing except that people see its refusal', (_when, state) => {
    const refused = play(state, answer('done', 't9.0.0@0.1'))
    expect(rejections(refused)).toMatchObject([
      { id: 't9.0.0@0.1', reason: expect.stringContaining('waits') as string },
    ])
    const after = play(refused.state, announced(refused, 'refused')).state
    expect({ ...after, announcements: 0 }).toEqual({ ...state, announcements: 0 })
  })

  it('that the ledger refuses is shown with the reason, and the question stays open to the next', () => {
    const refused = play(waiting().state, answer('done'), tool(1, 0, 0, { ...pending(), refused: 'too small' }))
    expect(proposals(refused)).toHaveLength(1)
    expect(rejections(refused)).toEqual([{ id: ID, reason: 'too small' }])
    expect(status(refused.state)).toBe('waiting')
    expect(proposals(play(refused.state, answer('not_done')))).toEqual([
      { kind: 'answered', answer: { id: ID, decision: 'not_done' } },
    ])
  })

  it('may arrive before the news that its call waits', () => {
    const early = play(running('pay').state, answer('done', ID, 'paid'))
    expect(early.commands).toEqual([])
    expect(proposals(play(early.state, tool(1, 0, 0, pending())))).toEqual([
      { kind: 'answered', answer: { id: ID, decision: 'done', text: 'paid' } },
    ])
  })

  it.each([
    ['ends by itself', tool(1, 0, 0, result())],
    ['asks something else', tool(1, 0, 0, pending('t1.0.0@0.9'))],
    ['is given back', tool(1, 0, 0, { kind: 'due', gen: 0 })],
  ])('that arrives too early is refused if its call %s', (_how, event) => {
    expect(rejections(play(running('pay').state, answer('done'), event))).toEqual([
      { id: ID, reason: `"${ID}" was never asked` },
    ])
  })

  it('is not lost when the store cannot take it: it is given again once the session goes on', () => {
    const broken = play(waiting().state, answer('done', ID, 'paid'), failed, resume)
    const resumed = play(broken.state, announced(broken, 'resume'))
    expect(only(resumed.commands, 'callTool')).toHaveLength(1)
    const parted = play(resumed.state, tool(1, 0, 0, { kind: 'notStarted' }))
    const again = play(parted.state, announced(parted, 'resume'), tool(1, 0, 0, pending()))
    expect(proposals(again)).toEqual([{ kind: 'answered', answer: { id: ID, decision: 'done', text: 'paid' } }])
  })

  it('is taken while the session is paused; what it leads to waits for resume', () => {
    const retried = play(waiting().state, pause, answer('retry'), tool(1, 0, 0, { kind: 'due', gen: 0 }))
    expect(proposals(retried)).toHaveLength(1)
    expect(only(retried.commands, 'callTool')).toEqual([])
    const resuming = play(retried.state, resume)
    expect(only(play(resuming.state, announced(resuming, 'resume')).commands, 'callTool')).toHaveLength(1)
  })

  it('to a question that a rewind of Temporal has left behind is refused: the call asks again', () => {
    const behind = play(waiting().state, answer('done', ID, 'paid'), tool(1, 0, 0, { kind: 'due', gen: 1 }))
    expect(rejections(behind)).toEqual([
      { id: ID, reason: `"${ID}" was asked before the session was rewound; if it is still open, it is asked anew` },
    ])
    expect(only(behind.commands, 'callTool').map(({ input }) => input.key)).toEqual(['t1.0.0'])
  })

  it('that arrives too early is refused if the turn is being stopped when its call asks', () => {
    const stopped = play(running('pay').state, answer('done'), cancel, tool(1, 0, 0, pending()))
    expect(rejections(stopped)).toEqual([{ id: ID, reason: 'the turn is being stopped' }])
    expect(proposals(stopped)).toEqual([{ kind: 'cancelled' }])
  })

  it('is refused while too much text is on its way to the ledger', () => {
    const names = Array.from({ length: 3 }, () => 'pay')
    const id = (i: number): string => `t1.0.${i}@0.2`
    const asked = play(running(...names).state, ...names.map((_, i) => tool(1, 0, i, pending(id(i)))))
    const long = 'x'.repeat(ANSWERS_TEXT_LIMIT / 2)
    const given = play(asked.state, ...names.map((_, i) => answer('done', id(i), long)))
    expect(proposals(given)).toHaveLength(2)
    expect(rejections(given)).toEqual([{ id: id(2), reason: 'too many answers are on their way' }])
  })
})

describe('the wait for a person', () => {
  it.each([
    ['cancel', cancel],
    ['close', close],
  ])('is ended by %s, also while paused', (_how, stop) => {
    const stopped = play(waiting().state, pause, stop)
    expect(proposals(stopped)).toEqual([{ kind: 'cancelled' }])
    expect(rejections(play(stopped.state, answer('done')))).toEqual([{ id: ID, reason: 'the turn is being stopped' }])
  })

  it('does not begin in a turn that stops', () => {
    const stopping = play(running('pay').state, cancel, tool(1, 0, 0, pending()))
    expect(proposals(stopping)).toEqual([{ kind: 'cancelled' }])
  })

  it('goes on if the activity that told of it is run once more', () => {
    const again = play(running('pay').state, lost, tool(1, 0, 0, pending()), answer('done'))
    expect(proposals(again)).toEqual([{ kind: 'timedOut' }, { kind: 'answered', answer: { id: ID, decision: 'done' } }])
  })

  it('begins again when the store has moved to another generation, which knows no question', () => {
    const told = (played: Played, tag: string): Input =>
      ({ ...announced(played, tag), outcome: { gen: 1, children: [] } }) as Input
    const paused = play(waiting().state, pause)
    const rewound = play(paused.state, told(paused, 'pause'), resume)
    expect(only(rewound.commands, 'callTool')).toEqual([])
    const resumed = play(rewound.state, told(rewound, 'resume'))
    expect(only(resumed.commands, 'callTool').map(({ input }) => input.key)).toEqual(['t1.0.0'])
    const again = play(resumed.state, tool(1, 0, 0, { ...pending('t1.0.0@1.1'), gen: 1 } as ToolOutcome))
    expect(pendingCalls(again.state).map(({ item }) => item.id)).toEqual(['t1.0.0@1.1'])
    expect(again.commands).toEqual([])
  })

  it('is over when a stop has won: an earlier retry does not make the call run', () => {
    const both = play(waiting().state, answer('retry'), cancel, tool(1, 0, 0, { kind: 'due', gen: 0 }))
    expect(only(both.commands, 'callTool')).toEqual([])
    expect(proposals(both).at(-1)).toEqual({ kind: 'cancelled' })
  })
})

describe('readAnswer', () => {
  it.each([
    ['nothing', undefined, 'is an object'],
    ['a text', 'done', 'is an object'],
    ['no id', { decision: 'done' }, 'id is missing'],
    ['an id without end', { id: 'x'.repeat(300), decision: 'done' }, 'id is missing'],
    ['an unknown word', { id: ID, decision: 'yes' }, 'decision must be one of done, not_done, retry'],
    [
      'a text to nothing done',
      { id: ID, decision: 'retry', text: 'x' },
      'a text goes with done, deny, answer or decline, not with retry',
    ],
    ['a text that is no text', { id: ID, decision: 'done', text: 3 }, 'text is not a text'],
    ['two texts', { id: ID, decision: 'done', text: 'x', textId: 'y' }, 'stands beside a text'],
    ['a text under an id with NUL', { id: ID, decision: 'done', textId: 'x\0' }, 'textId is not the id'],
    [
      'a result that belongs into the store',
      { id: ID, decision: 'done', text: 'x'.repeat(INLINE_TEXT_LIMIT + 1) },
      '`stello answer` takes longer ones',
    ],
    ['values to nothing asked', { id: ID, decision: 'approve', values: {} }, 'values go with answer, not with approve'],
    ['values that are a list', { id: ID, decision: 'answer', values: [1] }, 'values are not an object'],
    [
      'values that nobody could keep',
      { id: ID, decision: 'answer', values: { a: 'x'.repeat(INLINE_TEXT_LIMIT) } },
      'values are longer than 4096 bytes',
    ],
    ['args to what does not run', { id: ID, decision: 'deny', args: {} }, 'args go with approve, not with deny'],
    ['args that are a text', { id: ID, decision: 'approve', args: '{}' }, 'args are not an object'],
    ['args twice', { id: ID, decision: 'approve', args: {}, argsId: 'y' }, 'stands beside args'],
    [
      'args that belong into the store',
      { id: ID, decision: 'approve', args: { a: 'x'.repeat(INLINE_TEXT_LIMIT) } },
      '`stello approve` takes longer ones',
    ],
    [
      'a denial to remember',
      { id: ID, decision: 'deny', remember: 'tree' },
      'remember goes with approve, not with deny',
    ],
    [
      'to remember for ever',
      { id: ID, decision: 'approve', remember: 'ever' },
      'remember must be one of session, tree, agent',
    ],
  ])('refuses %s', (_what, input, problem) => {
    expect(readAnswer(input)).toContain(problem)
  })

  it('takes the words and drops the rest', () => {
    expect(readAnswer({ id: ID, decision: 'done', text: 'ok', more: 1 })).toEqual({
      id: ID,
      decision: 'done',
      text: 'ok',
    })
  })
})

it('tells whoever asks beforehand why an answer cannot be taken', () => {
  expect(answerProblem(waiting().state, { id: ID, decision: 'done' })).toBeUndefined()
  expect(answerProblem(opened(), { id: ID, decision: 'done' })).toContain('waits for an answer')
})
