/** What a worker warns of when it starts: models that have no key. */
import { afterEach, expect, it, vi } from 'vitest'
import { createStelloAgent } from '../../../src/agent/agent.ts'
import { missingKeys } from '../../../src/worker/missing-keys.ts'
import { ForkProfileRegistryImpl } from '../../../src/agent/profile.ts'
import type { ModelLike } from '../../../src/core/model.ts'
import { createClaude } from '../../../src/models/anthropic/claude.ts'
import { jsonActions } from '../../../src/models/actions/json-actions.ts'
import { fallback } from '../../../src/models/fallback.ts'
import { openai } from '../../../src/models/openai/openai.ts'
import { scriptedModel } from '../../../src/testing/index.ts'

const VARIABLES = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL']

afterEach(() => void vi.unstubAllEnvs())

function warnings(llm: ModelLike, ofReader: ModelLike, env: Record<string, string> = {}): string[] {
  for (const name of VARIABLES) vi.stubEnv(name, env[name])
  const profiles = new ForkProfileRegistryImpl().register('reader', { llm: ofReader })
  return missingKeys(createStelloAgent({ name: 'a', llm, capabilities: { profiles } }))
}

const gpt = (): ModelLike => openai({ model: 'gpt-x' })
const claude = (): ModelLike => createClaude({ model: 'claude-x' })

it('names each variable once, with the models of the agent and of its profiles that need it', () => {
  const told = warnings(fallback([gpt(), claude()]), jsonActions(openai({ model: 'gpt-y' })))
  expect(told).toEqual([
    expect.stringMatching(/^OPENAI_API_KEY is not set: sessions that ask gpt-x, gpt-y will pause; set it/),
    expect.stringMatching(/^ANTHROPIC_API_KEY is not set: sessions that ask claude-x will pause/),
  ])
})

it.each([
  ['keys are set', gpt(), claude(), { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' }],
  ['models are served elsewhere', gpt(), claude(), { OPENAI_BASE_URL: 'http://a', ANTHROPIC_BASE_URL: 'http://b' }],
  ['keys are given', openai({ model: 'x', apiKey: 'a' }), createClaude({ model: 'x', apiKey: 'a' }), {}],
  ['nobody can tell', scriptedModel([]), { complete: scriptedModel([]).complete }, {}],
])('is silent where %s', (_, llm, ofReader, env) => {
  expect(warnings(llm, ofReader, env)).toEqual([])
})
