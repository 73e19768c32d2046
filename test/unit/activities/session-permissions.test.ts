/** What is kept for good in sessions of agents with rules and without, under profiles that list what may run. */
import { expect, it } from 'vitest'
import { permissionsOf, withKept } from '../../../src/activities/tool/session-permissions.ts'
import type { StelloAgent } from '../../../src/agent/agent.ts'
import type { PermissionSettings } from '../../../src/agent/permission-settings.ts'
import { decide } from '../../../src/permissions/decide.ts'
import type { SessionConfig } from '../../../src/protocol/config.ts'
import type { PermissionRules } from '../../../src/protocol/permission-rules.ts'

/** Whether a tool runs where the rule `deploy` was kept. */
function decided(tool: string, agent: PermissionSettings | undefined, ...profiles: PermissionRules[]): string {
  const given: Partial<StelloAgent> = agent ? { permissions: agent } : {}
  const config = { agent: 'a', permissionMode: 'default', permissions: profiles } as unknown as SessionConfig
  const permissions = permissionsOf(given as StelloAgent, config)
  if (!permissions) throw new Error('permissions are off')
  return decide(withKept(permissions, ['deploy']), { tool, kind: 'execute' }).decision
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
