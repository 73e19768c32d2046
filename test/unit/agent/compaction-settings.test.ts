/** Settings of compaction: their defaults, and which are refused, by name of the field. */
import { expect, it } from 'vitest'
import { resolveCompaction, type CompactionSettings } from '../../../src/agent/compaction-settings.ts'
import { createStelloAgent } from '../../../src/agent/agent.ts'
import { ForkProfileRegistryImpl } from '../../../src/agent/profile.ts'
import { contextWindowOf } from '../../../src/models/context-windows.ts'
import { scriptedModel } from '../../../src/testing/index.ts'

const llm = scriptedModel([])

it('are complete: half of what is left out follows from the rest', () => {
  expect(resolveCompaction(undefined, 'compaction')).toEqual({ at: 0.8, keep: 0.3 })
  expect(resolveCompaction({ at: 0.4 }, 'compaction')).toEqual({ at: 0.4, keep: 0.2 })
  expect(resolveCompaction(false, 'compaction')).toBeUndefined()
})

it.each([
  [{ at: 1 }, 'compaction.at'],
  [{ at: '80%' }, 'compaction.at'],
  [{ keep: 0.9 }, 'compaction.keep'],
  [{ keep: 0 }, 'compaction.keep'],
  [{ window: 12.5 }, 'compaction.window'],
  [{ prompt: ' ' }, 'compaction.prompt'],
  [{ model: {} }, 'compaction.model'],
  [{ threshold: 0.5 }, 'compaction.threshold'],
  [true, 'compaction'],
])('%j is refused by its field', (settings, field) => {
  expect(() => createStelloAgent({ name: 'a', llm, compaction: settings as CompactionSettings })).toThrow(
    `${field}: must`.replace('threshold: must', 'threshold: is no field'),
  )
})

it('of a profile come before those of the agent', () => {
  const profiles = new ForkProfileRegistryImpl()
    .register('short', { compaction: { at: 0.5 } })
    .register('off', { compaction: false })
    .register('same', {})
  const agent = createStelloAgent({ name: 'a', llm, compaction: { at: 0.7 }, capabilities: { profiles } })
  expect([undefined, 'short', 'off', 'same', 'gone'].map((name) => agent.compactionOf(name)?.at)).toEqual([
    0.7,
    0.5,
    undefined,
    0.7,
    0.7,
  ])
})

it('need a window, which follows from the name of a model, also after the name of a router', () => {
  expect(
    ['gpt-4o-mini', 'openai/gpt-4o', 'gpt-5-mini', 'claude-sonnet-4-5', 'models/gemini-2.5-pro', 'my-model'].map(
      contextWindowOf,
    ),
  ).toEqual([128_000, 128_000, 272_000, 200_000, 1_000_000, undefined])
})
