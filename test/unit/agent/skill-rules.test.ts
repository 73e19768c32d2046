/** How skills state rules, and whose rules hold in a turn. */
import { describe, expect, it } from 'vitest'
import { checkSkill, readRules, skillsInForce, withLoaded } from '../../../src/agent/skill-rules.ts'
import { SkillRouterImpl, createStelloAgent, type Skill } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing/index.ts'

describe('readRules', () => {
  it.each<[unknown, string[]]>([
    ['Bash(jq:*) Bash(git:*)', ['Bash(jq:*)', 'Bash(git:*)']],
    ['Bash(git log:*), Read,Grep', ['Bash(git log:*)', 'Read', 'Grep']],
    ['  Read\n Bash(echo (a, b)) ', ['Read', 'Bash(echo (a, b))']],
    ['Bash(git:*)Bash(rm:*)', ['Bash(git:*)', 'Bash(rm:*)']],
    [
      ['Read', 'Bash(npm run test:*)', 'Glob, Grep'],
      ['Read', 'Bash(npm run test:*)', 'Glob', 'Grep'],
    ],
    [['mcp__github__*'], ['mcp__github__*']],
    ['', []],
    [[], []],
  ])('reads %j', (stated, rules) => {
    expect(readRules('allowed-tools', stated)).toEqual(rules)
  })

  it.each<[unknown, string]>([
    [5, 'allowed-tools must be rules, as text or as a list'],
    [{ Bash: true }, 'must be rules'],
    [[5], 'allowed-tools: a rule is a text'],
    ['Bash(', 'allowed-tools: "Bash(" is no rule'],
    ['Bash(git log', '"Bash(git log" is no rule'],
    ['Bash)', 'is no rule'],
    ['Bash()', '"Bash()" is no rule'],
    ['Read *', '"*"'],
    ['Read(~/x)', '~ is no folder here'],
  ])('refuses %j', (stated, problem) => {
    expect(() => readRules('allowed-tools', stated)).toThrow(problem)
  })
})

describe('a skill of a program', () => {
  const skill = (given: object): Skill => ({ name: 'review', description: 'd', content: 'c', ...given })

  it.each([
    [{ permissions: { deny: ['Bash('] } }, 'skill "review": permissions: deny: "Bash(" is no rule'],
    [{ permissions: { ask: ['Bash'] } }, '"ask" is no field of it: allow, deny'],
    [{ permissions: 'Bash' }, 'permissions: must be an object'],
    [{ permissions: null }, 'permissions: must be an object'],
    [{ scope: 'forever' }, 'skill "review": scope must be turn or session'],
    [{ model: 5 }, 'model must be the name of a model'],
  ])('with %j is refused, also by an agent whose registry is of its own', (given, problem) => {
    expect(() => new SkillRouterImpl().register(skill(given))).toThrow(problem)
    const create = () =>
      createStelloAgent({ name: 'a', llm: scriptedModel([]), capabilities: { skills: { list: () => [skill(given)] } } })
    expect(create).toThrow(problem)
  })

  it('states at most 200 rules of a kind: all are compared with every part of a call', () => {
    const rules = (count: number): string[] => Array.from({ length: count }, () => 'Read')
    expect(() => checkSkill(skill({ permissions: { allow: rules(200), deny: rules(200) } }))).not.toThrow()
    for (const list of ['allow', 'deny'])
      expect(() => checkSkill(skill({ permissions: { [list]: rules(201) } }))).toThrow('and these are 201')
    expect(() => readRules('allowed-tools', rules(201).join(' '))).toThrow('allowed-tools: a skill may allow 200 rules')
  })

  it('may state them all', () => {
    const all = { permissions: { allow: ['Read'], deny: ['Bash(rm:*)'] }, scope: 'session', model: 'opus' }
    expect(() => checkSkill(skill(all))).not.toThrow()
  })
})

describe('what was loaded', () => {
  const turn = { name: 'turn' } as Skill
  const session = { name: 'session', scope: 'session' } as Skill
  const names = (value: unknown, messageId: string | undefined): string[] =>
    skillsInForce([turn, session], value, messageId).map(({ name }) => name)
  const both = withLoaded(withLoaded(undefined, turn, 'm1'), session, 'm1')

  it('holds until the end of its turn, or for the session', () => {
    expect(names(both, 'm1')).toEqual(['turn', 'session'])
    expect(names(both, 'm2')).toEqual(['session'])
    expect(names(both, undefined)).toEqual(['session'])
  })

  it('is forgotten when another turn loads something, and is listed once', () => {
    expect(withLoaded(both, session, 'm2')).toEqual([{ skill: 'session' }])
    expect(withLoaded(both, turn, 'm2')).toEqual([{ skill: 'session' }, { skill: 'turn', messageId: 'm2' }])
  })

  it('allows no more than it allowed when it was loaded, whatever its file says by now', () => {
    const skill = (permissions: Skill['permissions']): Skill => ({ ...session, permissions: permissions ?? {} })
    const value = withLoaded(undefined, skill({ allow: ['Read', 'Grep'] }), 'm1')
    const inForce = (permissions: Skill['permissions']) =>
      skillsInForce([skill(permissions)], value, 'm2').map((each) => each.permissions)
    expect(inForce({ allow: ['Bash', 'Grep'], deny: ['Write'] })).toEqual([{ allow: ['Grep'], deny: ['Write'] }])
    expect(inForce({ deny: ['Write'] })).toEqual([{ deny: ['Write'] }])
    const unknown = [{ skill: 'session' }]
    expect(skillsInForce([skill({ allow: ['Bash'] })], unknown, 'm2')).toEqual([skill({ allow: [] })])
  })

  it('is nothing where the value is none, and nothing that the session may not load', () => {
    for (const value of [
      undefined,
      'turn',
      { skill: 'turn' },
      ['turn'],
      [{ skill: 5 }],
      [{ skill: 'turn', messageId: 5 }],
      [{ skill: 'turn', allow: 'Bash' }],
    ])
      expect(names(value, 'm1')).toEqual([])
    expect(skillsInForce([turn], both, 'm1')).toEqual([turn])
  })
})
