/** The phases of one call, without Temporal: in order, all under one time-out, each with its own error code. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Permission, ToPermit } from '../../../src/activities/tool/call-permit.ts'
import type { LiveStep } from '../../../src/activities/live-writer.ts'
import { CallValues } from '../../../src/activities/tool/call-values.ts'
import { runPhases, type Phases } from '../../../src/activities/tool/phases.ts'
import { ToolChannel } from '../../../src/activities/tool/tool-channel.ts'
import { ToolInstance } from '../../../src/activities/tool/tool-instance.ts'
import { StelloError } from '../../../src/core/errors.ts'
import { createStelloAgent } from '../../../src/agent/agent.ts'
import { sessionTools } from '../../../src/agent/tool-list.ts'
import type { AnyTool, ToolLike } from '../../../src/tool/any-tool.ts'
import { createGate } from '../../support/gate.ts'
import { llm } from '../agent/authoring.ts'

interface Ran {
  ended: Promise<unknown>
  channel: ToolChannel
}

interface Run extends Partial<Omit<Phases, 'execution'>> {
  args?: string
  timeoutMs?: number
  stop?: AbortSignal
}

function runTool(tool: AnyTool, { args = '{}', timeoutMs = 60_000, stop, ...rest }: Run = {}): Ran {
  const agent = createStelloAgent({ name: 'a', llm, capabilities: { tools: [tool] } })
  const live = { card: () => undefined, update: () => undefined } as unknown as LiveStep
  const call = { id: 'c-1', name: [...agent.tools.keys()][0] ?? '', arguments: args }
  const channel = new ToolChannel(call, { live })
  channel.start(call, { live })
  const ended = runPhases({
    call,
    agent,
    tools: sessionTools(agent, { tools: 'agent' }),
    use: new ToolInstance(channel),
    begin: async () => undefined,
    ...rest,
    execution: {
      sessionId: 's-1',
      rootId: 's-1',
      depth: 0,
      messageId: 'm-1',
      idempotencyKey: 'k-1',
      timeoutMs,
      stop: stop ?? new AbortController().signal,
      config: { agent: 'a', label: 'l', model: 'agent', tools: 'agent' },
      messages: [],
      channel,
      values: new CallValues(async () => undefined),
      skills: [],
      listTools: async () => [],
    },
  })
  return { ended, channel }
}

/** Writes down its phases in the order in which they are reached. */
function staged(ran: string[], extra: Partial<ToolLike<{ path: string; deep: boolean }>> = {}): ToolLike {
  const like: ToolLike<{ path: string; deep: boolean }> = {
    name: 'staged',
    description: 'd',
    parameters: z.object({ path: z.string(), deep: z.boolean() }),
    aliases: { filePath: 'path' },
    validate: ({ path, deep }) => void ran.push(`validate ${path} ${deep}`),
    execute: ({ path, deep }) => {
      ran.push(`execute ${path} ${deep}`)
      return 'done'
    },
    ...extra,
  }
  return like as ToolLike
}

describe('a call', () => {
  it('passes all stages in order: aliases, repair, precondition, permission, execute', async () => {
    const ran: string[] = []
    const permit = async (tool: { name: string }, args: unknown): Promise<Permission> => {
      ran.push(`permit ${tool.name} ${JSON.stringify(args)}`)
      return { kind: 'allow', args }
    }
    const { ended, channel } = runTool(staged(ran), { args: '{"filePath":"a","deep":"true"}', permit })
    expect(await ended).toEqual({ value: 'done' })
    expect(ran).toEqual(['validate a true', 'permit staged {"path":"a","deep":true}', 'execute a true'])
    expect(channel.card).toEqual({ status: 'DOING', params: { path: 'a', deep: true } })
  })

  it('of a tool that does not exist is answered with the tools that do', async () => {
    const { ended } = runTool(staged([]), { call: { id: 'c', name: 'other', arguments: '{}' } })
    await expect(ended).rejects.toMatchObject({
      code: 'TOOL_NOT_FOUND',
      message: 'unknown tool "other". Available: stello_create_session, staged',
    })
  })

  it('with arguments that cannot be repaired reaches no code of the tool', async () => {
    const ran: string[] = []
    const { ended, channel } = runTool(staged(ran), { args: '{"path":7,"deep":"yes"}' })
    await expect(ended).rejects.toMatchObject({
      code: 'TOOL_VALIDATION_ERROR',
      message: expect.stringContaining('- deep:') as string,
    })
    expect(ran).toEqual([])
    expect(channel.card).toBeUndefined()
  })

  it('that is not permitted is not executed, and its card never says DOING', async () => {
    const ran: string[] = []
    const permit = async (): Promise<Permission> => ({
      kind: 'deny',
      error: new StelloError('TOOL_PERMISSION_DENIED', 'only on weekdays'),
    })
    const { ended, channel } = runTool(staged(ran), { args: '{"path":"a","deep":false}', permit })
    expect(await ended).toMatchObject({ error: { code: 'TOOL_PERMISSION_DENIED', message: 'only on weekdays' } })
    expect(ran).toEqual(['validate a false'])
    expect(channel.card).toBeUndefined()
  })

  describe('that a person must permit', () => {
    const asks: ToPermit = { question: 'really?', shown: { hash: 'h', touches: [], rules: [] } }
    const permit = async (): Promise<Permission> => ({ kind: 'ask', asks })
    const begun = (ran: string[]) => async (): Promise<void> => void ran.push('begun')

    it('asks, and has not begun', async () => {
      const ran: string[] = []
      const { ended } = runTool(staged(ran), { args: '{"path":"a","deep":true}', permit, begin: begun(ran) })
      expect(await ended).toEqual({ asks: { kind: 'approval', about: 'really?', permit: asks.shown } })
      expect(ran).toEqual(['validate a true'])
    })

    it('runs after a person has permitted it, with the arguments that were permitted, and begins right before that', async () => {
      const ran: string[] = []
      const allow = async (): Promise<Permission> => ({ kind: 'allow', args: { path: 'b', deep: true } })
      const approving = { args: '{"path":"a","deep":true}', permit: allow, begin: begun(ran) }
      expect(await runTool(staged(ran), approving).ended).toEqual({ value: 'done' })
      expect(ran).toEqual(['validate a true', 'validate b true', 'begun', 'execute b true'])
    })
  })

  it('is told the call, the session and what was said', async () => {
    const { ended } = runTool({
      name: 'look',
      description: 'd',
      parameters: { type: 'object' },
      execute: (_, { callId, requestId, sessionId, messageId, idempotencyKey, contextSnapshot, bladeConfig }) => {
        return {
          callId,
          requestId,
          sessionId,
          messageId,
          idempotencyKey,
          contextSnapshot,
          agent: bladeConfig?.['agent'],
        }
      },
    })
    expect(await ended).toEqual({
      value: {
        callId: 'c-1',
        requestId: 'c-1',
        sessionId: 's-1',
        messageId: 'm-1',
        idempotencyKey: 'k-1',
        contextSnapshot: { messages: [] },
        agent: 'a',
      },
    })
  })
})

describe('a precondition', () => {
  const guarded = (ran: string[], validate: NonNullable<ToolLike['validate']>): ToolLike => ({
    name: 'guarded',
    description: 'd',
    parameters: { type: 'object' },
    validate,
    execute: () => void ran.push('execute'),
  })

  it('that fails keeps the tool from running', async () => {
    const ran: string[] = []
    const { ended } = runTool(guarded(ran, () => ({ valid: false, reason: 'not today' })))
    await expect(ended).rejects.toMatchObject({ message: 'Tool precondition failed: not today' })
    expect(ran).toEqual([])
  })

  it('that takes too long is the tool’s time-out', async () => {
    const { ended } = runTool(
      guarded([], () => new Promise(() => {})),
      { timeoutMs: 1 },
    )
    await expect(ended).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' })
  })

  it('that ends after a cancellation does not start the tool any more', async () => {
    const ran: string[] = []
    const stop = new AbortController()
    const consent = createGate()
    const { ended } = runTool(
      guarded(ran, () => consent.pass()),
      { stop: stop.signal },
    )
    await consent.reached()
    stop.abort('cancel')
    await expect(ended).rejects.toMatchObject({ code: 'TOOL_CANCELLED' })
    consent.open()
    // Everything that follows from the consent has happened in the next round of the event loop.
    await new Promise(setImmediate)
    expect(ran).toEqual([])
  })
})

it('a factory that never makes its instance is the tool’s time-out', async () => {
  const { ended } = runTool({ name: 'slow', factory: () => new Promise<object>(() => {}) }, { timeoutMs: 1 })
  await expect(ended).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' })
})
