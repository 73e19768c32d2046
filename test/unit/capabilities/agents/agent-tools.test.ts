/** The tools for child agents as a model meets them: what they take, and what they ask of the session. */
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { agents, shell, subagents, type CapabilityPack } from '../../../../src/capabilities/index.ts'
import { normalizeResult } from '../../../../src/tool/result.ts'
import type { AgentView, CallAgents, Tool } from '../../../../src/index.ts'
import { testContext } from '../test-context.ts'

type Asked = [what: keyof CallAgents, ...given: unknown[]]

/** One agent, as a look finds it. */
function useAgent(pack: CapabilityPack & { tools: readonly Tool[] }, found: Partial<AgentView> = {}) {
  const asked: Asked[] = []
  const view: AgentView = { id: 's-a', label: 'a', status: 'completed', text: 'the answer', ...found }
  const session: CallAgents = {
    spawn: async (agent) => (asked.push(['spawn', agent]), { id: 's-a' }),
    send: async (...given) => (asked.push(['send', ...given]), { messageId: 'm' }),
    wait: async (...given) => (asked.push(['wait', ...given]), { agents: [view], timedOut: false }),
    look: async (ids) => (asked.push(['look', ids]), [view]),
    close: async (id) => (asked.push(['close', id]), view.status),
  }
  const call = async (name: string, args: unknown) => {
    const tool = pack.tools.find((one) => one.name === name)
    const checked = tool?.check(args)
    if (!checked?.ok) return { text: checked?.problem ?? `no ${name}`, isError: true }
    const { content, isError } = normalizeResult(await tool?.execute(checked.value, testContext({ agents: session })))
    return { text: content, isError }
  }
  return { asked, call }
}

describe('the pack agents', () => {
  it('takes the names that other systems use', async () => {
    const { asked, call } = useAgent(agents())
    await call('spawn-agent', { agent_type: 'reader', prompt: 'read', nickname: 'r', fork_context: true })
    await call('send-input', { target: 's-a', payload: 'go', interrupt: true, id: 'k' })
    await call('wait-agent', { targets: 's-a', timeoutMs: 5 })
    await call('close-agent', { target: 's-a' })
    expect(asked).toEqual([
      ['spawn', { label: 'r', context: 'inherit', profile: 'reader', message: 'read' }],
      ['send', 's-a', 'go', { interrupt: true, key: 'k' }],
      ['wait', ['s-a'], { until: 'finished', timeoutMs: 5 }],
      ['close', 's-a'],
    ])
  })

  it('keeps the order of the calls of a round: a wait belongs to the message before it', () => {
    expect(agents().tools.filter(({ ordered }) => !ordered)).toEqual([])
  })

  it('refuses what makes no sense', async () => {
    const { asked, call } = useAgent(agents())
    for (const args of [{}, { agentIds: [] }, { agentIds: Array.from({ length: 17 }, () => 'a') }]) {
      expect(await call('wait-agent', args)).toMatchObject({ isError: true })
    }
    expect(await call('send-input', { agentId: 's-a', message: '' })).toMatchObject({ isError: true })
    expect(asked).toEqual([])
  })
})

describe('the pack subagents', () => {
  const task = { description: 'look it up', prompt: 'find it' }

  it('returns the answer with the address that resume takes', async () => {
    const { asked, call } = useAgent(subagents())
    expect(await call('Task', { ...task, subagentType: 'reader' })).toEqual({
      text: 'the answer\n\nagentId: s-a',
      isError: false,
    })
    expect(asked).toEqual([
      ['spawn', { label: 'look it up', message: 'find it', notifies: false, profile: 'reader' }],
      ['wait', ['s-a'], { owned: true }],
    ])
  })

  it('tells after a failure how to go on', async () => {
    const { call } = useAgent(subagents(), { status: 'errored', text: 'it was cancelled' })
    const { text, isError } = await call('Task', { ...task, resume: 's-a' })
    expect(isError).toBe(true)
    expect(text).toContain('Agent s-a ended without an answer: it was cancelled. resume asks it again.')
  })

  it('leaves TaskOutput and TaskStop to the shell if the agent has one, and the shell knows agents', async () => {
    expect(subagents({ withShell: true }).tools.map(({ name }) => name)).toEqual(['Task'])
    for (const pack of [subagents(), shell({ sandboxManager: { root: tmpdir() } })]) {
      const { asked, call } = useAgent(pack)
      expect((await call('TaskOutput', { task_id: 's-a', timeout: 7 })).text).toBe(
        '<status>completed</status>\n<output>\nthe answer\n</output>',
      )
      expect((await call('TaskStop', { task_id: 's-a' })).text).toContain('"already_exited":true')
      expect(asked).toEqual([
        ['wait', ['s-a'], { timeoutMs: 7 }],
        ['look', ['s-a']],
        ['close', 's-a'],
      ])
    }
    const { call } = useAgent(subagents(), { status: 'not_found' })
    expect(await call('TaskOutput', { task_id: 's-a' })).toMatchObject({ isError: true })
  })
})
