/**
 * A person permits a call with other arguments: they are checked, and the call runs with them. The record keeps those
 * of the model.
 */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import { settleTool } from '../../src/activities/tool/settle-tool.ts'
import type { PendingItem } from '../../src/protocol/pending.ts'
import type { Answer } from '../../src/protocol/read-answer.ts'
import type { Elsewhere, ToolOutcome } from '../../src/protocol/steps.ts'
import { readQuestions } from '../../src/store/watching/inbox.ts'
import { listKeptRules } from '../../src/store/sessions/kept-rules.ts'
import { putMessage } from '../../src/store/transcript/message-bodies.ts'
import { readOwnRecords } from '../../src/store/transcript/records.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { releaseStep } from '../../src/store/ledger/settle.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { Verified } from '../../src/tool/tool.ts'
import type { Touch } from '../../src/tool/touch.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { readEvents } from '../support/events.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, resetRun, take, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

interface Removing {
  sessionId: string
  /** What the tool has been run with. */
  removed: string[]
  /** What its `verify` has looked for. */
  looked: string[]
  tried(): Promise<ToolOutcome | Elsewhere>
  /** A worker begins the call and dies. */
  dies(): Promise<void>
  /** Temporal is rewound to before the question. */
  rewind(): void
  approve(how: Omit<Answer, 'id' | 'decision'>): Promise<ToolOutcome>
  open(): Promise<PendingItem[]>
}

/** `finds`: what `verify` says. */
type Asking = { finds?: Verified; onUnknownOutcome?: 'ask' }

/** A call to remove a.txt that waits for permission. */
async function removing({ deny = [], ...how }: { deny?: string[] } & Asking = {}): Promise<Removing> {
  const removed: string[] = []
  const looked: string[] = []
  const touches = ({ path }: { path: string }): Touch[] => [
    { kind: 'command', command: `rm ${path}`, argv: ['rm', path], readonly: false },
  ]
  const remove = tool(
    'remove',
    'd',
    z.object({ path: z.string() }),
    ({ path }) => {
      removed.push(path)
      return `removed ${path}`
    },
    {
      kind: 'execute',
      touches,
      ...how,
      verify: ({ path }) => {
        looked.push(path)
        return how.finds
      },
    },
  )
  const deps = depsOf(at.db, { llm: scriptedModel([]), permissions: { deny }, capabilities: { tools: [remove] } })
  let run: RunRef = await openSession(at.db)
  const { sessionId } = run
  const call = { id: 'c-1', name: 'remove', arguments: '{"path":"a.txt"}' }
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: [call] }])
  const place = { turn: 1, base: 1, place: placeAt(1), messageId: 'm', round: 0, index: 0, seq: 2 }
  const step = { sessionId, key: 't1.0.0', call, gen: 0, ...place }
  const open = (): Promise<PendingItem[]> => readQuestions(at.db, [sessionId])
  const tried = (): Promise<ToolOutcome | Elsewhere> => attempt(run, () => callTool(deps, step))
  expect(await tried()).toMatchObject({ kind: 'pending', item: { kind: 'approval' } })
  return {
    sessionId,
    removed,
    looked,
    tried,
    async dies() {
      const { rows } = await at.db.pool.query<{ input_hash: string }>(
        'select input_hash from steps where session_id = $1 and step_key = $2',
        [sessionId, step.key],
      )
      const taken = { key: step.key, kind: 'tool', name: call.name, inputHash: rows[0]?.input_hash ?? '' } as const
      await releaseStep(at.db, await take(at.db, run, taken), { failed: false, begun: true, died: true })
    },
    rewind: () => void (run = resetRun(run, 'reset', 1)),
    open,
    async approve(how) {
      const [item] = await open()
      const answer: Answer = { id: item?.id ?? '', decision: 'approve', ...how }
      return attempt(run, () => settleTool(deps, { step, proposed: { kind: 'answered', answer } }))
    },
  }
}

describe('a call that is permitted with other arguments', () => {
  it('runs with these, once; the record keeps those of the model, and the event tells both that and which', async () => {
    const { sessionId, removed, tried, approve } = await removing()
    expect(await approve({ args: { path: 'b.txt' }, remember: 'session' })).toEqual({ kind: 'due', gen: 0 })
    expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
    expect(await tried()).toMatchObject({ kind: 'settled', isError: false })
    expect(removed).toEqual(['b.txt'])
    const records = await readOwnRecords(at.db, { sessionId, gen: 0, seq: 2 })
    expect(records.map(({ message }) => message.toolCalls?.[0]?.arguments ?? message.content)).toEqual([
      '{"path":"a.txt"}',
      'removed b.txt',
    ])
    const closed = (await readEvents(at.db, sessionId, 0)).find(({ type }) => type === 'pending.closed')
    expect(closed?.data).toMatchObject({ decision: 'approve', args: { path: 'b.txt' }, remember: 'session' })
    // The rules that were offered speak of a.txt.
    expect((await listKeptRules(at.db)).filter((rule) => rule.sessionId === sessionId)).toEqual([])
  })

  it('takes long ones from the store', async () => {
    const { sessionId, removed, tried, approve } = await removing()
    const path = 'x'.repeat(100_000)
    await putMessage(at.db, sessionId, { messageId: 'long', text: JSON.stringify({ path }) })
    await approve({ argsId: 'long' })
    await tried()
    expect(removed).toEqual([path])
  })

  it.each<[string, Omit<Answer, 'id' | 'decision'>, string]>([
    ['that do not fit', { args: { path: 7, force: true } }, 'the arguments do not fit:\n- path: '],
    ['that nobody has stored', { argsId: 'nowhere' }, 'no args are stored under "nowhere"'],
  ])('waits on when it is given some %s', async (_what, how, why) => {
    const { removed, approve, open } = await removing()
    expect(await approve(how)).toMatchObject({ kind: 'pending', refused: expect.stringContaining(why) as string })
    expect([await open(), removed]).toMatchObject([[{ kind: 'approval' }], []])
  })

  it('is denied all the same by a rule that denies these', async () => {
    const { removed, tried, approve } = await removing({ deny: ['remove(rm b.txt)'] })
    await approve({ args: { path: 'b.txt' } })
    expect(await tried()).toMatchObject({ isError: true, code: 'TOOL_PERMISSION_DENIED' })
    expect(removed).toEqual([])
  })

  it('is looked for with these after a rewind, and no longer once it has begun with others', async () => {
    const { looked, tried, approve, dies, rewind, open, removed } = await removing({ finds: { happened: false } })
    await approve({ args: { path: 'b.txt' } })
    await dies()
    rewind()
    expect(await tried()).toEqual({ kind: 'due', gen: 1 })
    expect(looked).toEqual(['b.txt'])
    expect(await tried()).toMatchObject({ kind: 'pending' })
    expect(await open()).toMatchObject([{ kind: 'approval', preview: '{"path":"a.txt"}' }])
    await approve({})
    await dies()
    expect(await tried()).toEqual({ kind: 'due', gen: 1 })
    expect([looked, removed, await open()]).toEqual([['b.txt', 'a.txt'], [], []])
  })

  it('asks a person after a rewind whether it took effect with these', async () => {
    const { tried, approve, dies, rewind, open } = await removing({ onUnknownOutcome: 'ask' })
    await approve({ args: { path: 'b.txt' } })
    await dies()
    rewind()
    expect(await tried()).toMatchObject({ kind: 'pending' })
    expect(await open()).toMatchObject([{ kind: 'unknown_outcome', preview: '{"path":"b.txt"}' }])
  })
})
