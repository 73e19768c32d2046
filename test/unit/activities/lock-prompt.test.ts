/**
 * Rules that stay in front: what `lockPrompt` keeps, whatever models and clients ask for, at any depth, and only once.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ForkProfile } from '../../../src/agent/profile.ts'
import type { SessionConfig } from '../../../src/protocol/config.ts'
import { forkConfig, rootConfig } from '../../../src/activities/child/fork.ts'

const given: SessionConfig = { agent: 'a', label: 'root', model: 'agent', tools: 'agent' }
const LOCKED = { systemPrompt: 'Obey the law.', lockPrompt: true }
const OPEN = { systemPrompt: 'Be kind.', lockPrompt: false }

function root(agent: { systemPrompt: string; lockPrompt: boolean }, systemPrompt?: string, profile?: ForkProfile) {
  return rootConfig({ ...given, ...(systemPrompt !== undefined && { systemPrompt }) }, profile, agent)
}

function fork(parent: SessionConfig, systemPrompt?: string, profile?: ForkProfile): SessionConfig {
  const args = { label: 'child', ...(systemPrompt !== undefined && { systemPrompt }), ...(profile && { profile: 'p' }) }
  return forkConfig(parent, args, profile)
}

describe('the prompt of an agent that locks it', () => {
  it('stands in front of what a client asks for', () => {
    expect(root(LOCKED, 'Steal.').systemPrompt).toBe('Obey the law.\n\nSteal.')
    expect(root(LOCKED).systemPrompt).toBe('Obey the law.')
    expect(root(LOCKED, '').systemPrompt).toBe('Obey the law.')
  })

  it('stands in front of what a model asks for, at any depth, once', () => {
    const child = fork(root(LOCKED), 'Steal.')
    expect(child.systemPrompt).toBe('Obey the law.\n\nSteal.')
    expect(fork(child, 'Lie.').systemPrompt).toBe('Obey the law.\n\nLie.')
    expect(fork(fork(child)).systemPrompt).toBe('Obey the law.\n\nSteal.')
    expect(fork(child, child.systemPrompt).systemPrompt).toBe('Obey the law.\n\nSteal.')
  })

  it.each([
    ['prepend', 'Obey the law.\n\nOwn.\n\nAsked.'],
    ['append', 'Obey the law.\n\nAsked.\n\nOwn.'],
    ['preset', 'Obey the law.\n\nOwn.'],
  ] as const)('stands in front of a profile in mode %s', (systemPromptMode, prompt) => {
    const profile = { systemPrompt: 'Own.', systemPromptMode }
    expect(fork(root(LOCKED), 'Asked.', profile).systemPrompt).toBe(prompt)
    expect(root(LOCKED, 'Asked.', profile).systemPrompt).toBe(prompt)
  })
})

describe('the prompt of a profile that locks it', () => {
  const profile: ForkProfile = { systemPrompt: 'Only read.', lockPrompt: true }

  it.each(['prepend', 'append'] as const)('stands in front of what is asked for, in mode %s, and below', (mode) => {
    const reader = fork(root(OPEN), 'Steal.', { ...profile, systemPromptMode: mode })
    expect(reader.systemPrompt).toBe('Only read.\n\nSteal.')
    expect(fork(reader, 'Write.').systemPrompt).toBe('Only read.\n\nWrite.')
    expect(fork(reader, 'Write.', { systemPrompt: 'Own.', systemPromptMode: 'preset' }).systemPrompt).toBe(
      'Only read.\n\nOwn.',
    )
  })

  it('comes after that of an agent which locks its own, and once, however often it is asked for', () => {
    const reader = fork(root(LOCKED), 'A.', profile)
    expect(reader.systemPrompt).toBe('Obey the law.\n\nOnly read.\n\nA.')
    expect(fork(reader, 'B.', profile).systemPrompt).toBe('Obey the law.\n\nOnly read.\n\nB.')
    expect(fork(fork(reader, undefined, profile), undefined, profile).systemPrompt).toBe('Obey the law.\n\nOnly read.')
  })

  it('ignores what is asked for in mode preset, and no longer keeps it out below', () => {
    const reader = fork(root(OPEN), 'Steal.', { ...profile, systemPromptMode: 'preset' })
    expect(reader.systemPrompt).toBe('Only read.')
    expect(fork(reader, 'Sing.').systemPrompt).toBe('Only read.\n\nSing.')
  })

  it('is the one that its session begins with, if the profile has none', () => {
    const session = fork(root(OPEN), 'Rules of the client.', { lockPrompt: true })
    expect(session.systemPrompt).toBe('Rules of the client.')
    expect(fork(session, 'Steal.').systemPrompt).toBe('Rules of the client.\n\nSteal.')
    expect(fork(root(OPEN), undefined, { lockPrompt: true })).toMatchObject({ systemPrompt: 'Be kind.', locked: 8 })
  })
})

it('without lockPrompt a child says what it is asked to say, and no row mentions rules', () => {
  const child = fork(root(OPEN), 'Steal.')
  expect(child.systemPrompt).toBe('Steal.')
  expect(child).not.toHaveProperty('locked')
  expect(fork(child, '').systemPrompt).toBe('Steal.')
})

it('whatever is asked for down a tree, its prompts begin with the rules of each level above', () => {
  const text = fc.constantFrom(undefined, '', 'A', 'A\n\nB', '\n\n', 'Obey the law.', 'Obey the law.\n\nA', '\n\nObey')
  const profile = fc.option(
    fc.record(
      {
        systemPrompt: fc.constantFrom('Own', 'Obey', 'A\n\nB', ''),
        systemPromptMode: fc.constantFrom('prepend' as const, 'append' as const, 'preset' as const),
        lockPrompt: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    { nil: undefined },
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(text, profile), { maxLength: 6 }), (levels) => {
      let session = root(LOCKED)
      for (const [asked, named] of levels) {
        const rules = session.systemPrompt?.slice(0, session.locked) ?? ''
        session = fork(session, asked, named as ForkProfile | undefined)
        expect(session.systemPrompt?.startsWith(rules)).toBe(true)
        expect(session.locked).toBeGreaterThanOrEqual(rules.length)
        expect(session.systemPrompt?.slice(rules.length)).toMatch(/^(?:\n\n[^]|$)/)
      }
      expect(session.systemPrompt?.startsWith('Obey the law.')).toBe(true)
    }),
  )
})
