/** Which rules a question offers to keep, and who decides about what a skill allows. */
import { describe, expect, it } from 'vitest'
import {
  createPermit,
  type Decision,
  type Permission,
  type Permitting,
} from '../../../src/activities/tool/call-permit.ts'
import { withSkills } from '../../../src/activities/tool/session-permissions.ts'
import type { ToolHooks } from '../../../src/agent/permission-settings.ts'
import type { Skill } from '../../../src/core/skill.ts'
import { toRules } from '../../../src/permissions/rules.ts'
import type { PermissionMode } from '../../../src/protocol/permission-mode.ts'
import type { PermissionRules } from '../../../src/protocol/permission-rules.ts'
import type { Touch } from '../../../src/tool/touch.ts'

async function asked(
  touches?: () => Promise<Touch[]>,
  ask: string[] = [],
  ...below: PermissionRules[]
): Promise<Permission> {
  const permitting: unknown = {
    agent: { hooks: {} },
    session: {},
    input: '{}',
    standing: async () => ({ mode: 'default', layers: [{ ask }, ...below].map(toRules) }),
    keptRules: async () => [],
    told: () => undefined,
  }
  const permit = createPermit(permitting as Permitting)
  const subject = { name: 'Bash', kind: 'execute', check: (value: unknown) => ({ ok: true as const, value }) } as const
  const at = { callId: 'c', signal: AbortSignal.timeout(1000) }
  return permit({ ...subject, ...(touches && { touches }) }, {}, at)
}

it('a call in which the tool finds nothing to name offers no rule for all of its calls', async () => {
  expect(await asked(async () => [])).toMatchObject({ kind: 'ask', asks: { shown: { rules: [] } } })
})

it('a tool that never says what it touches is named as a whole', async () => {
  expect(await asked()).toMatchObject({ kind: 'ask', asks: { shown: { rules: ['Bash'] } } })
})

it('a call that a rule asks about offers none, because that rule would win over a kept one', async () => {
  const push: Touch = { kind: 'command', command: 'git push', argv: ['git', 'push'], readonly: false }
  const offers = (rules: string[]): object => ({ kind: 'ask', asks: { shown: { rules } } })
  expect(await asked(async () => [push])).toMatchObject(offers(['Bash(git push)']))
  expect(await asked(async () => [push], ['Bash(git push:*)'])).toMatchObject(offers([]))
})

it('a call that the list of a profile leaves out offers none: a rule that is kept would not let it run', async () => {
  expect(await asked(undefined, [], { allow: ['Read'] })).toMatchObject({ asks: { shown: { rules: [] } } })
  expect(await asked(undefined, [], { allow: ['Bash'] })).toMatchObject({ asks: { shown: { rules: ['Bash'] } } })
})

it('a call runs that a person has permitted for good while the function of its agent took its time', async () => {
  const kept: string[] = []
  const canUseTool = async (): Promise<object> => {
    kept.push('Bash')
    return { behavior: 'ask' }
  }
  const permitting: unknown = {
    agent: { hooks: { canUseTool } },
    session: {},
    input: '{}',
    standing: async () => ({ mode: 'default', layers: [toRules({})] }),
    keptRules: async () => [...kept],
    told: () => undefined,
  }
  const subject = { name: 'Bash', kind: 'execute', check: (value: unknown) => ({ ok: true as const, value }) } as const
  const at = { callId: 'c', signal: AbortSignal.timeout(1000) }
  expect(await createPermit(permitting as Permitting)(subject, {}, at)).toMatchObject({ kind: 'allow' })
})

describe('who permits a call is shown', () => {
  const runs = (command: string): Touch => ({ kind: 'command', command, argv: [command], readonly: false })
  const shown = async (commands: string[]): Promise<string[]> => {
    const permission = await asked(async () => commands.map(runs))
    return permission.kind === 'ask' ? permission.asks.shown.touches : []
  }

  it('every part, however many and however long', async () => {
    const commands = Array.from({ length: 30 }, (_, n) => `echo ${n} ${'x'.repeat(n === 20 ? 2000 : 5)} last`)
    expect(await shown(commands)).toEqual(commands.map((command) => `run ${command}`))
  })

  it('how many parts there are more, where they would fill the store', async () => {
    const most = await shown(Array.from({ length: 100 }, (_, n) => `echo ${n} ${'x'.repeat(990)}`))
    expect([most.length, most.at(-1)]).toEqual([32, 'and 69 more'])
    const long = await shown([`echo ${'x'.repeat(50_000)}`, 'rm x'])
    expect([long.length, long[0]?.length, long[1]]).toEqual([2, 16_004, 'run rm x'])
  })
})

describe('what a skill allows', () => {
  const push: Touch = { kind: 'command', command: 'git push', argv: ['git', 'push'], readonly: false }
  const skill: Skill = { name: 'ship', description: 'd', content: 'c', permissions: { allow: ['Bash(git push:*)'] } }

  async function permitted(hooks: ToolHooks, mode: PermissionMode = 'default') {
    const told: Decision[] = []
    const standing = withSkills({ mode, layers: [toRules({})] }, [skill])
    const permitting: unknown = {
      agent: { hooks },
      session: {},
      input: '{}',
      standing: async () => standing,
      keptRules: async () => [],
      told: (decision: Decision) => told.push(decision),
    }
    const subject = {
      name: 'Bash',
      kind: 'execute',
      check: (value: unknown) => ({ ok: true as const, value }),
    } as const
    const at = { callId: 'c', signal: AbortSignal.timeout(1000) }
    const { kind } = await createPermit(permitting as Permitting)({ ...subject, touches: async () => [push] }, {}, at)
    return { kind, told }
  }
  const bySkill = { decision: 'allow', by: 'rule', rule: 'Bash(git push:*)', why: 'skill ship' }

  it('runs, and the log names the skill', async () => {
    expect(await permitted({})).toMatchObject({ kind: 'allow', told: [bySkill] })
    const confirm = (): boolean => {
      throw new Error('nobody was to be asked')
    }
    expect(await permitted({ confirm })).toMatchObject({ kind: 'allow', told: [bySkill] })
  })

  it.each(['default', 'dontAsk'] as const)('can be denied by canUseTool of the agent, in mode %s', async (mode) => {
    const denies = { canUseTool: () => ({ behavior: 'deny' as const }) }
    expect(await permitted(denies, mode)).toMatchObject({ kind: 'deny', told: [{ decision: 'deny', by: 'hook' }] })
    const leaves = { canUseTool: () => ({ behavior: 'ask' as const }) }
    expect(await permitted(leaves, mode)).toMatchObject({ kind: 'allow', told: [bySkill] })
  })
})
