/**
 * Sessions of earlier versions go on: the workflow code of today makes the decisions that the recorded histories hold.
 */
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleToday, readHistories, replay, type NamedHistory } from '../support/histories.ts'
import { ALL_SCENARIOS } from './all-scenarios.ts'

let today: WorkflowBundleWithSourceMap
let histories: NamedHistory[]

beforeAll(async () => {
  today = await bundleToday()
  histories = await readHistories()
})

it('there are histories of every scenario', () => {
  const recorded = histories.map(({ name }) => name.replace(/^.*\/|-\d+$/g, ''))
  expect([...new Set(recorded)]).toEqual(expect.arrayContaining(Object.keys(ALL_SCENARIOS)))
})

it('replay on the workflow code of today', async () => {
  expect(await replay(today, histories)).toEqual([])
})

describe('a change of the order of commands', () => {
  const PERFORMED = 'for (const command of commands)performer.perform(command)'
  const changed = (becomes: string): WorkflowBundleWithSourceMap => {
    expect(today.code.split(PERFORMED)).toHaveLength(2)
    return { ...today, code: today.code.replace(PERFORMED, becomes) }
  }
  const REVERSED = 'for (const command of commands.toReversed())performer.perform(command)'

  it('is caught', async () => {
    const differing = await replay(changed(REVERSED), histories)
    expect(differing.map(({ name }) => name)).toContainEqual(expect.stringContaining('fork-beside-calls'))
    expect(differing[0]?.error).toMatch(/TMPRL1100|[Nn]ondeterminism/)
  })

  it('passes behind `patched`', async () => {
    const patched = /\(0,(\w+)\.makeContinueAsNewFunc\)/.exec(today.code)?.[1]
    const guarded = `if ((0,${patched}.patched)('reversed')) { ${REVERSED} } else { ${PERFORMED} }`
    expect(await replay(changed(guarded), histories)).toEqual([])
  })
})
