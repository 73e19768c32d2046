/** How a tool's code is run, without Temporal: its precondition first, both under one time-out. */
import { describe, expect, it } from 'vitest'
import { executeTool, verifyTool, type Execution } from '../../../src/activities/execute-tool.ts'
import { defineSimpleTool } from '../../../src/agent/forms.ts'
import type { ToolLike } from '../../../src/agent/to-tool.ts'
import type { Tool } from '../../../src/agent/tool.ts'
import { createGate } from '../../support/gate.ts'

type Check = NonNullable<ToolLike<Record<string, never>>['validate']>
type Verify = NonNullable<ToolLike<Record<string, never>>['verify']>

/** Runs a tool with this check; `ran` lists what was run of it, in order. */
function runWith(validate: Check, execution: Partial<Execution> = {}): { ran: string[]; ended: Promise<unknown> } {
  const ran: string[] = []
  const tool = defineSimpleTool({
    name: 'guarded',
    description: 'd',
    validate: (args, ctx) => {
      ran.push(`validate ${ctx.callId}`)
      return validate(args, ctx)
    },
    execute: (_, ctx) => {
      ran.push(`execute ${ctx.callId}`)
      return 'done'
    },
  })
  return { ran, ended: executeTool(tool, {}, executionOf(execution)) }
}

function executionOf(execution: Partial<Execution> = {}): Execution {
  return {
    sessionId: 's-1',
    messageId: 'm-1',
    callId: 'c-1',
    idempotencyKey: 'k-1',
    timeoutMs: 60_000,
    stop: new AbortController().signal,
    config: {} as Execution['config'],
    onUpdate: () => {},
    ...execution,
  }
}

describe('a precondition', () => {
  it('is asked before the tool runs, with the same context', async () => {
    const { ran, ended } = runWith(() => ({ valid: true }))
    expect(await ended).toBe('done')
    expect(ran).toEqual(['validate c-1', 'execute c-1'])
  })

  it('that fails keeps the tool from running', async () => {
    const { ran, ended } = runWith(() => ({ valid: false, reason: 'not today' }))
    await expect(ended).rejects.toMatchObject({ message: 'Tool precondition failed: not today' })
    expect(ran).toEqual(['validate c-1'])
  })

  it('that takes too long is the tool’s time-out', async () => {
    const { ended } = runWith(() => new Promise(() => {}), { timeoutMs: 1 })
    await expect(ended).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' })
  })

  it('that ends after a cancellation does not start the tool behind its back', async () => {
    const stop = new AbortController()
    const consent = createGate()
    const { ran, ended } = runWith(() => consent.pass(), { stop: stop.signal })
    await consent.reached()
    stop.abort('cancel')
    await expect(ended).rejects.toMatchObject({ code: 'TOOL_CANCELLED' })
    consent.open()
    // Everything that follows from the consent has happened when the event loop comes round.
    await new Promise(setImmediate)
    expect(ran).toEqual(['validate c-1'])
  })
})

describe('verify', () => {
  const verifying = (verify: Verify): Tool =>
    defineSimpleTool({ name: 'pay', description: 'd', execute: () => 'never', verify })

  it('gets the context of its call, and the tool does not run', async () => {
    const tool = verifying((_, { sessionId, callId, idempotencyKey, signal }) => ({
      happened: true,
      result: [sessionId, callId, idempotencyKey, signal.aborted],
    }))
    expect(await verifyTool(tool, {}, executionOf())).toEqual({ happened: true, result: ['s-1', 'c-1', 'k-1', false] })
  })

  it('shares the tool’s time-out, of which its signal tells', async () => {
    let signal: AbortSignal | undefined
    const tool = verifying((_, ctx) => {
      signal = ctx.signal
      return new Promise(() => {})
    })
    await expect(verifyTool(tool, {}, executionOf({ timeoutMs: 1 }))).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' })
    expect(signal?.aborted).toBe(true)
  })

  it('is stopped with the worker', async () => {
    const stop = new AbortController()
    const ended = verifyTool(
      verifying(() => new Promise(() => {})),
      {},
      executionOf({ stop: stop.signal }),
    )
    stop.abort('shutdown')
    await expect(ended).rejects.toMatchObject({ code: 'TOOL_CANCELLED' })
  })
})
