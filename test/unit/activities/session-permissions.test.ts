/** What is kept for good in sessions of agents with rules and without, under profiles that list what may run. */
import { describe, expect, it } from 'vitest'
import { permissionsOf, withKept, withSkills } from '../../../src/activities/tool/session-permissions.ts'
import type { StelloAgent } from '../../../src/agent/agent.ts'
import type { PermissionSettings } from '../../../src/agent/permission-settings.ts'
import type { Skill } from '../../../src/core/skill.ts'
import { decide, ruled, type Permissions, type Verdict } from '../../../src/permissions/decide.ts'
import type { SessionConfig } from '../../../src/protocol/config.ts'
import type { PermissionRules } from '../../../src/protocol/permission-rules.ts'

function permitted(agent: PermissionSettings | undefined, profiles: PermissionRules[]): Permissions {
  const given: Partial<StelloAgent> = agent ? { permissions: agent } : {}
  const mode = agent?.mode ?? 'default'
  const config = { agent: 'a', permissionMode: mode, permissions: profiles } as unknown as SessionConfig
  const permissions = permissionsOf(given as StelloAgent, config)
  if (!permissions) throw new Error('permissions are off')
  return permissions
}

/** Whether a tool runs where the rule `deploy` was kept. */
function decided(tool: string, agent: PermissionSettings | undefined, ...profiles: PermissionRules[]): string {
  return decide(withKept(permitted(agent, profiles), ['deploy']), { tool, kind: 'execute' }).decision
}

/** What a skill with these rules lets happen to a call of a tool that executes. */
function loaded(
  permissions: Permissions | undefined,
  rules: NonNullable<Skill['permissions']>,
  tool = 'deploy',
): Partial<Verdict> {
  const given = withSkills(permissions, [{ name: 'ship', description: 'd', content: 'c', permissions: rules }])
  return given ? decide(given, { tool, kind: 'execute' }) : { decision: 'allow' }
}

it.each<[string, string, PermissionSettings | undefined, PermissionRules[]]>([
  ['allow', 'deploy', undefined, []],
  ['ask', 'look', undefined, []],
  ['allow', 'deploy', {}, []],
  ['allow', 'deploy', {}, [{ deny: ['wipe'] }]],
  ['ask', 'deploy', {}, [{ allow: ['look'] }]],
  ['ask', 'look', {}, [{ allow: ['look'] }]],
  ['ask', 'deploy', {}, [{}, { allow: [] }]],
  ['ask', 'deploy', { allow: ['deploy'] }, [{ allow: ['look'] }]],
  ['allow', 'deploy', {}, [{ allow: ['deploy'] }]],
  ['ask', 'deploy', undefined, [{ allow: ['look'] }]],
  ['allow', 'look', undefined, [{ allow: ['look'] }]],
  ['ask', 'deploy', undefined, [{ allow: ['look'] }, { allow: ['deploy'] }]],
  ['allow', 'deploy', undefined, [{}]],
  ['ask', 'deploy', undefined, [{}, { allow: ['look'] }]],
  ['ask', 'deploy', {}, [{ ask: ['deploy'] }]],
  ['deny', 'deploy', {}, [{ deny: ['deploy'] }]],
])('%s: %s, with %j of the agent and %j of profiles', (expected, tool, agent, profiles) => {
  expect(decided(tool, agent, ...profiles)).toBe(expected)
})

describe('a skill that allows a call', () => {
  it.each<[string, PermissionSettings | undefined, PermissionRules[]]>([
    ['allow', {}, []],
    ['allow', undefined, []],
    ['allow', { allow: ['look'] }, []],
    ['allow', { mode: 'dontAsk' }, []],
    ['deny', { mode: 'plan' }, []],
    ['deny', { deny: ['deploy'] }, []],
    ['ask', { ask: ['deploy'] }, []],
    ['deny', { mode: 'dontAsk', ask: ['deploy'] }, []],
    ['deny', {}, [{ deny: ['deploy'] }]],
    ['ask', {}, [{ ask: ['deploy'] }]],
    ['ask', {}, [{ allow: ['look'] }]],
    ['ask', undefined, [{ allow: ['look'] }]],
    ['ask', {}, [{}, { allow: [] }]],
    ['allow', {}, [{ allow: ['deploy'] }]],
  ])('%s, with %j of the agent and %j of profiles', (expected, agent, profiles) => {
    expect(loaded(permitted(agent, profiles), { allow: ['deploy'] }).decision).toBe(expected)
  })

  it('is named where its rule was needed, and only there', () => {
    const bySkill = { decision: 'allow', rule: 'deploy', from: 'skill ship' }
    expect(loaded(permitted({}, []), { allow: ['deploy'] })).toMatchObject(bySkill)
    expect(loaded(permitted({}, [{ allow: ['deploy'] }]), { allow: ['deploy'] })).toMatchObject(bySkill)
    for (const agent of [{ allow: ['deploy'] }, { mode: 'bypassPermissions' }])
      expect(loaded(permitted(agent, []), { allow: ['deploy'] })).not.toHaveProperty('from')
    const kept = withKept(
      withSkills(permitted({}, []), [
        { name: 's', description: 'd', content: 'c', permissions: { allow: ['deploy', 'look'] } },
      ]) ?? permitted({}, []),
      ['deploy'],
    )
    expect(decide(kept, { tool: 'deploy', kind: 'execute' })).not.toHaveProperty('from')
    expect(decide(kept, { tool: 'look', kind: 'execute' })).toMatchObject({ decision: 'allow', from: 'skill s' })
  })
})

it('a call of which a skill allows one part, and the agent the others, counts as allowed by the skill', () => {
  const skill = { name: 's', description: 'd', content: 'c', permissions: { allow: ['Bash(git push)'] } }
  const permissions = withSkills(permitted({ allow: ['Bash(make)'] }, []), [skill])
  const touches = ['make', 'git push', 'make'].map(
    (command) => ({ kind: 'command', command, argv: command.split(' '), readonly: false }) as const,
  )
  expect(permissions && decide(permissions, { tool: 'Bash', kind: 'execute', touches })).toMatchObject({
    decision: 'allow',
    rule: 'Bash(git push)',
    from: 'skill s',
  })
})

describe('a skill that denies a call', () => {
  it('does so in every mode, against every rule that allows, and where permissions are off', () => {
    const denied = { decision: 'deny', rule: 'deploy', from: 'skill ship' }
    for (const agent of [{}, { allow: ['deploy'] }, { mode: 'bypassPermissions' }, { ask: ['deploy'] }])
      expect(loaded(permitted(agent, []), { deny: ['deploy'], allow: ['deploy'] })).toMatchObject(denied)
    expect(loaded(undefined, { deny: ['deploy'] })).toMatchObject(denied)
    expect(loaded(undefined, { deny: ['deploy'] }, 'look').decision).toBe('allow')
    expect(withSkills(undefined, [{ name: 's', description: 'd', content: 'c', permissions: { allow: ['x'] } }])).toBe(
      undefined,
    )
  })

  it('is named to tools that ask about what they come upon', () => {
    const skill = { name: 's', description: 'd', content: 'c', permissions: { deny: ['Read(.env)'] } }
    const permissions = withSkills(undefined, [skill])
    expect(permissions && ruled(permissions, 'Glob', { kind: 'read', path: '/w/.env', root: '/w' })).toEqual({
      decision: 'deny',
      rule: 'Read(.env) of the skill s',
    })
  })
})

it('what a skill of the parent denied binds a session whose permissions are off, and nothing else does', () => {
  const config = { agent: 'a', permissions: [{ deny: ['deploy'] }] } as unknown as SessionConfig
  const permissions = permissionsOf({} as StelloAgent, config)
  const decision = (tool: string): string | undefined =>
    permissions && decide(permissions, { tool, kind: 'execute' }).decision
  expect([decision('deploy'), decision('look')]).toEqual(['deny', 'allow'])
})
