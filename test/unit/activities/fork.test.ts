import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ForkProfile } from '../../../src/agent/profile.ts'
import { childId } from '../../../src/protocol/keys.ts'
import type { SessionConfig } from '../../../src/protocol/config.ts'
import { forkConfig } from '../../../src/activities/child/fork.ts'
import { composeSystemPrompt } from '../../../src/activities/child/system-prompt.ts'
import { llm, named, refusal } from '../agent/authoring.ts'

function compose(
  profile: ForkProfile | undefined,
  requested?: string,
  vars: Record<string, string> = {},
): string | undefined {
  return composeSystemPrompt({ profile, requested, inherited: 'parent', vars }).systemPrompt
}

describe('the system prompt of a child', () => {
  it("without a profile is the requested one, else the parent's", () => {
    expect(compose(undefined, 'asked')).toBe('asked')
    expect(compose(undefined)).toBe('parent')
    expect(compose({ systemPromptMode: 'preset' }, 'asked')).toBe('asked')
    expect(compose({})).toBe('parent')
  })

  it.each([
    [undefined, 'asked', 'own\n\nasked'],
    ['prepend', 'asked', 'own\n\nasked'],
    ['append', 'asked', 'asked\n\nown'],
    ['preset', 'asked', 'own'],
    ['prepend', undefined, 'own'],
    ['append', undefined, 'own'],
    ['append', '', 'own'],
  ] as const)('in mode %s with %s requested is %j', (mode, requested, expected) => {
    expect(compose({ systemPrompt: 'own', ...(mode && { systemPromptMode: mode }) }, requested)).toBe(expected)
  })

  it('fills in the vars', () => {
    expect(compose({ systemPrompt: (vars) => `Expert in ${vars['region']}` }, undefined, { region: 'Peru' })).toBe(
      'Expert in Peru',
    )
  })

  it('refuses a template that needs a missing var, naming it', () => {
    const profile: ForkProfile = { systemPrompt: (vars) => `Expert in ${vars['region']}` }
    expect(refusal('INVALID_ARGUMENT', () => compose(profile, undefined, { regoin: 'Peru' }))).toBe(
      'the profile\'s system prompt: the var "region" is missing (given: regoin); pass it in vars',
    )
    expect(refusal('INVALID_ARGUMENT', () => compose({ systemPrompt: (vars) => `${vars['constructor']}` }))).toContain(
      '"constructor"',
    )
  })

  it('lets a template ask for optional vars', () => {
    expect(compose({ systemPrompt: (vars) => ('region' in vars ? 'with' : 'without') })).toBe('without')
  })

  it('refuses a template that gives no text', () => {
    expect(refusal('INVALID_ARGUMENT', () => compose({ systemPrompt: (() => undefined) as never }))).toContain(
      'returned undefined',
    )
  })
})

describe('the configuration of a child', () => {
  const parent: SessionConfig = {
    agent: 'a',
    label: 'parent',
    profile: 'old',
    systemPrompt: 'parent',
    model: 'profile:old',
    tools: 'profile:old',
    skills: ['s'],
    allowedTools: ['x', 'y'],
    disallowedTools: ['z'],
    permissionMode: 'acceptEdits',
    userId: 'u',
    limits: { maxToolRounds: 1, toolTimeoutMs: 1, timeoutsBeforePause: 1 },
  }
  const fork = (profile?: ForkProfile): SessionConfig =>
    forkConfig(parent, { label: 'child', ...(profile && { profile: 'p' }) }, profile)
  const inherited = {
    agent: 'a',
    label: 'child',
    systemPrompt: 'parent',
    model: 'profile:old',
    tools: 'profile:old',
    skills: ['s'],
    allowedTools: ['x', 'y'],
    disallowedTools: ['z'],
    permissionMode: 'acceptEdits',
    userId: 'u',
    profile: 'old',
  }

  it("without a profile is the parent's, and nothing beside the table of docs/architecture.md", () => {
    expect(fork()).toEqual(inherited)
  })

  it('with a profile that says nothing is the same, under its name, with all skills', () => {
    const { skills: _own, ...rest } = inherited
    expect(fork({})).toEqual({ ...rest, profile: 'p' })
    expect(fork({ skills: 'inherit' })).toEqual({ ...inherited, profile: 'p' })
  })

  it('takes model, tools and skills from a profile that has them', () => {
    expect(fork({ llm, tools: [named('t')], skills: [] })).toMatchObject({
      model: 'profile:p',
      tools: 'profile:p',
      skills: [],
    })
  })

  it('only narrows what tools are allowed', () => {
    expect(fork({ allowedTools: ['y', 'new'], disallowedTools: ['z', 'w'] })).toMatchObject({
      allowedTools: ['y'],
      disallowedTools: ['z', 'w'],
    })
    const open = forkConfig(
      { agent: 'a', label: 'l', model: 'agent', tools: 'agent' },
      { label: 'c', profile: 'p' },
      { allowedTools: ['q'] },
    )
    expect(open).toEqual({ agent: 'a', label: 'c', profile: 'p', model: 'agent', tools: 'agent', allowedTools: ['q'] })
  })

  it.each([
    ['acceptEdits', 'plan', 'plan'],
    ['acceptEdits', 'yolo', 'acceptEdits'],
    ['bypassPermissions', 'autoEdit', 'autoEdit'],
    ['dontAsk', 'default', 'dontAsk'],
    [undefined, 'bypassPermissions', 'bypassPermissions'],
    [undefined, 'dontAsk', 'dontAsk'],
  ])('of permission mode %s with a profile in %s gets %s', (mine, profiles, expected) => {
    const { permissionMode: _mine, ...rest } = parent
    const config = mine === undefined ? rest : { ...rest, permissionMode: mine }
    expect(forkConfig(config, { label: 'c', profile: 'p' }, { permissionMode: profiles }).permissionMode).toBe(expected)
  })

  it('cuts a label without end', () => {
    const { label } = forkConfig(parent, { label: '🎓'.repeat(20_000) }, undefined)
    expect(label).toBe(`${'🎓'.repeat(99)}…`)
  })
})

describe('childId', () => {
  it('is short, readable and the same for the same call', () => {
    const call = { sessionId: 'tea-root', key: 't3.0.2', inputHash: 'ab12' }
    const id = childId(call, ['Green tea', 'agent'])
    expect(id).toMatch(/^green-tea-[a-z2-7]{12}$/)
    expect(childId(call, ['Green tea', 'agent'])).toBe(id)
  })

  it('differs with each of its inputs, also if text moves from one input to the next', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ sessionId: fc.string(), key: fc.string(), inputHash: fc.string() }), {
          selector: ({ sessionId, key, inputHash }) => JSON.stringify([sessionId, key, inputHash]),
        }),
        (calls) => {
          expect(new Set(calls.map((call) => childId(call, []))).size).toBe(calls.length)
        },
      ),
    )
    const apart = childId({ sessionId: 'a', key: 'b', inputHash: 'c' }, [])
    expect(apart).not.toBe(childId({ sessionId: 'ab', key: '', inputHash: 'c' }, []))
  })
})
