import { describe, expect, expectTypeOf, it } from 'vitest'
import { toMs } from '../../../src/core/duration.ts'
import { ForkProfileRegistryImpl } from '../../../src/agent/profile.ts'
import { ToolRegistryImpl } from '../../../src/tool/tool-registry.ts'
import { SkillRouterImpl } from '../../../src/agent/skill-router.ts'
import { named, refusal } from '../agent/authoring.ts'

describe('ToolRegistryImpl', () => {
  it('gives back converted tools by name and in order of registration', () => {
    const tools = new ToolRegistryImpl().register(named('b')).register(named('a'))
    expect(tools.list().map((tool) => tool.name)).toEqual(['b', 'a'])
    expect(tools.get('a')).toMatchObject({ effect: 'non_idempotent', parameters: { type: 'object' } })
    expect(tools.get('c')).toBeUndefined()
  })

  it('takes a factory, whose instances are made when they are needed', () => {
    const made: string[] = []
    const tools = new ToolRegistryImpl().register({ name: 'made', factory: () => named(`inner ${made.push('one')}`) })
    expect(tools.get('made')?.open).toBeTypeOf('function')
    expect(made).toEqual([])
  })

  it('gives execute the type of its arguments, so that authors need not write it', () => {
    const tools = new ToolRegistryImpl().register({
      ...named('a'),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>(),
    })
    expect(tools.list()).toHaveLength(1)
  })

  it('refuses a name that is taken, naming it', () => {
    const tools = new ToolRegistryImpl().register(named('a'))
    expect(refusal('INVALID_TOOL', () => tools.register(named('a')))).toContain('tool "a" is registered twice')
  })
})

describe('SkillRouterImpl', () => {
  const skill = { name: 'review', description: 'Reviews', content: 'Check it.' }

  it('gives back skills by name and in order of registration', () => {
    const skills = new SkillRouterImpl().register(skill).register({ ...skill, name: 'a' })
    expect(skills.list().map(({ name }) => name)).toEqual(['review', 'a'])
    expect(skills.get('review')).toBe(skill)
  })

  it('refuses a name that is taken and a skill without content', () => {
    const skills = new SkillRouterImpl().register(skill)
    expect(refusal('INVALID_ARGUMENT', () => skills.register(skill))).toContain('skill "review" is registered twice')
    expect(refusal('INVALID_ARGUMENT', () => skills.register({ ...skill, name: 'x', content: '' }))).toContain(
      'skill "x": content',
    )
  })
})

describe('ForkProfileRegistryImpl', () => {
  it('gives back profiles by name, and the names in order of registration', () => {
    const profile = { systemPrompt: 'You research.' }
    const profiles = new ForkProfileRegistryImpl().register('research', profile).register('bare', {})
    expect(profiles.names()).toEqual(['research', 'bare'])
    expect(profiles.get('research')).toBe(profile)
  })

  it.each([
    ['a name that is taken', 'taken', {}, 'is registered twice'],
    ['an empty name', ' ', {}, 'needs a name'],
    ['a name without end', 'x'.repeat(201), {}, 'needs a name of at most 200 characters'],
    ['an unknown mode', 'x', { systemPromptMode: 'replace' }, 'systemPromptMode'],
    ['skills that are no names', 'x', { skills: 'all' }, "skills: must be a list of names of skills, or 'inherit'"],
    ['an unknown context', 'x', { context: 'all' }, 'context: must be none or inherit'],
    ['a contextFn that is no function', 'x', { contextFn: 'all' }, 'contextFn'],
    ['a system prompt that is neither text nor function', 'x', { systemPrompt: 1 }, 'systemPrompt'],
  ])('refuses %s', (_what, name, profile, problem) => {
    const profiles = new ForkProfileRegistryImpl().register('taken', {})
    expect(refusal('INVALID_ARGUMENT', () => profiles.register(name, profile as never))).toContain(problem)
  })
})

describe('toMs', () => {
  it.each([
    ['30s', 30_000],
    ['10 minutes', 600_000],
    ['2h', 7_200_000],
    [1500, 1500],
    ['250', 250],
  ])('reads %s', (given, expected) => {
    expect(toMs(given, 'toolTimeout')).toBe(expected)
  })

  it.each([['soon'], [''], [0], [-1], ['-1s'], [Number.NaN], [Number.POSITIVE_INFINITY], ['30 days'], [null]])(
    'refuses %s, naming the field',
    (given) => {
      expect(refusal('INVALID_ARGUMENT', () => toMs(given as never, 'toolTimeout'))).toMatch(
        /^toolTimeout: .*is not a duration/,
      )
    },
  )
})
