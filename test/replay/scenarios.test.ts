/**
 * Every scenario, live. Every workflow task replays the whole run so far, and the finished histories are replayed once
 * more. `npm run histories` keeps them for later versions.
 */
import { beforeAll, expect, it } from 'vitest'
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { createGate } from '../support/gate.ts'
import { bundleToday, newRecording, replay, writeHistory, type NamedHistory } from '../support/histories.ts'
import { runsOf } from '../support/runs.ts'
import { useStello } from '../support/session-fixture.ts'
import { startTemporalWith } from '../support/temporal.ts'
import { ALL_SCENARIOS } from './all-scenarios.ts'

const stello = useStello(() => startTemporalWith(['limit.historyCount.suggestContinueAsNew=100']))
let today: WorkflowBundleWithSourceMap
let recording: string | undefined

beforeAll(async () => {
  today = await bundleToday()
  if (process.env['STELLO_HISTORIES'] === 'record') recording = await newRecording()
})

it.each(Object.entries(ALL_SCENARIOS))('%s', async (name, scenario) => {
  const gate = createGate()
  const agent = scenario.agent(gate)
  const options = { maxCachedWorkflows: 0 }
  const worker = await stello.work(agent, options)
  const session = await stello.client.createSession({ agent: worker.taskQueue })
  await scenario.play({
    client: stello.client,
    session,
    gate,
    async stop() {
      await worker.stop()
      return async () => void (await stello.work({ ...agent, name: worker.taskQueue }, options))
    },
  })
  gate.open()

  const histories: NamedHistory[] = []
  const tree = [await session.tree()]
  for (const { id, children } of tree) {
    tree.push(...children)
    for (const { history } of await runsOf(stello, stello.client.session(id))) {
      histories.push({ name: `${name}-${histories.length + 1}`, history })
    }
  }
  expect(await replay(today, histories)).toEqual([])
  if (name.startsWith('continued')) expect(histories.length).toBeGreaterThan(tree.length)
  if (recording) for (const each of histories) await writeHistory(recording, each)
})
