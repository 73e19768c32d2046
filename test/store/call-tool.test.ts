/** A call that was begun by a worker that is gone, and did not happen: who may run it, and for how long. */
import { expect, it } from 'vitest'
import { callTool } from '../../src/activities/call-tool.ts'
import { defineSimpleTool } from '../../src/agent/forms.ts'
import { inputHash } from '../../src/store/hashes.ts'
import { forceStep } from '../../src/store/settle.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, take, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

it('is given back, since finding that out has used up some of the time of the attempt, and runs in the next', async () => {
  let paid = 0
  const pay = defineSimpleTool({
    name: 'pay',
    description: 'd',
    execute: () => `paid ${++paid}`,
    verify: () => ({ happened: false }),
  })
  const deps = depsOf(at.db, { llm: scriptedModel([]), capabilities: { tools: [pay] } })
  const run = await openSession(at.db)
  const { sessionId } = run
  const call = { id: 'c-1', name: 'pay', arguments: '{}' }
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: [call] }])
  const { chain } = await deps.transcripts.read(at.db, sessionId, 0, 1)
  const step = {
    key: 't1.0.0',
    kind: 'tool',
    name: 'pay',
    inputHash: inputHash('tool', chain, 0, 'pay', '{}'),
  } as const
  await take(at.db, run, step)
  await forceStep(at.db, { run, ...step })

  const input = {
    sessionId,
    key: step.key,
    call,
    gen: 0,
    turn: 1,
    base: 1,
    place: placeAt(1),
    messageId: 'm',
    round: 0,
    index: 0,
    seq: 2,
  }
  const tried = () => attempt(run, () => callTool(deps, input))

  expect([await tried(), paid]).toEqual([{ kind: 'due', gen: 0 }, 0])
  expect([await tried(), paid]).toMatchObject([{ kind: 'settled', isError: false, preview: 'paid 1' }, 1])
})
