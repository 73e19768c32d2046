/** What an agent and a profile may state about permissions. */
import { describe, expect, it } from 'vitest'
import { createStelloAgent, type AgentDefinition } from '../../../src/agent/agent.ts'
import { ForkProfileRegistryImpl } from '../../../src/agent/profile.ts'
import { permissionsOf } from '../../../src/activities/tool/session-permissions.ts'
import type { SessionConfig } from '../../../src/protocol/config.ts'
import { llm } from './authoring.ts'

const agentWith = (given: Partial<AgentDefinition>) => createStelloAgent({ name: 'a', llm, ...given })
const config: SessionConfig = { agent: 'a', label: 'l', model: 'agent', tools: 'agent' }

describe('invalid permissions are refused, with what is wrong', () => {
  it.each<[Partial<Record<keyof AgentDefinition, unknown>>, string]>([
    [{ permissions: { mode: 'plann' } }, 'permissions: mode: must be one of plan, dontAsk, default, acceptEdits'],
    [{ permissions: { allow: 'Read' } }, 'permissions: allow must be a list of rules'],
    [{ permissions: { deny: ['Bash('] } }, 'permissions: deny: "Bash(" is no rule'],
    [{ permissions: { denied: [] } }, 'permissions: "denied" is no field of it: mode, deny, ask, allow'],
    [{ permissions: ['Read'] }, 'permissions: must be an object'],
    [{ permissions: { expiresIn: -1 } }, 'permissions: expiresIn: -1 is not a duration of 1 ms to 1 year'],
    [
      { permissions: { expiresIn: '366 days' } },
      "permissions: expiresIn: '366 days' is not a duration of 1 ms to 1 year",
    ],
    [{ permissions: { expiresIn: '1 day', default: 'allow' } }, 'permissions: default: must be deny or approve'],
    [{ permissions: { default: 'deny' } }, 'permissions: default: without expiresIn, a call waits for ever'],
    [{ canUseTool: 'allow' }, 'canUseTool: must be a function'],
  ])('%j', (given, problem) => {
    expect(() => agentWith(given as Partial<AgentDefinition>)).toThrow(problem)
  })

  it('in a profile too', () => {
    const register = (): unknown =>
      new ForkProfileRegistryImpl().register('p', { permissions: { ask: ['!'] }, permissionMode: 'plan' })
    expect(register).toThrow('profile "p" permissions: ask: "!" is no rule')
    const expiring = (): unknown =>
      new ForkProfileRegistryImpl().register('p', { permissions: { expiresIn: '1 day' } } as object)
    expect(expiring).toThrow('"expiresIn" is no field of it')
  })
})

describe('a session', () => {
  it('of an agent that states nothing has none; a mode of its own switches them on', () => {
    expect(permissionsOf(agentWith({}), config)).toBeUndefined()
    expect(permissionsOf(agentWith({}), { ...config, permissionMode: 'yolo' })).toMatchObject({
      mode: 'bypassPermissions',
    })
  })

  it('has the mode of its agent unless it states another; what a tool has chosen only narrows', () => {
    const agent = agentWith({ permissions: { mode: 'acceptEdits' } })
    expect(permissionsOf(agent, config)?.mode).toBe('acceptEdits')
    expect(permissionsOf(agent, { ...config, permissionMode: 'default' })?.mode).toBe('default')
    expect(permissionsOf(agent, config, 'plan')?.mode).toBe('plan')
    expect(permissionsOf(agent, config, 'yolo')?.mode).toBe('acceptEdits')
  })

  it('of an agent with a function that decides is asked', () => {
    expect(permissionsOf(agentWith({ confirm: () => true }), config)?.mode).toBe('default')
    expect(permissionsOf(agentWith({ afterTool: () => undefined }), config)).toBeUndefined()
  })

  it('reads the rules of its agent once', () => {
    const agent = agentWith({ permissions: { deny: ['Bash'] } })
    expect(permissionsOf(agent, config)?.layers[0]).toBe(permissionsOf(agent, config)?.layers[0])
  })

  it('whose row holds an unknown mode is in the narrowest mode', () => {
    expect(permissionsOf(agentWith({}), { ...config, permissionMode: 'god' })?.mode).toBe('plan')
  })
})
