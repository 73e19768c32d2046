/**
 * A tool is asked what became of a call whose end nobody knows: with the context of the call, under the time-out of the
 * tool.
 */
import { describe, expect, it } from 'vitest'
import type { Deps } from '../../../src/activities/deps.ts'
import type { LiveStep } from '../../../src/activities/live-writer.ts'
import type { CallAtHand } from '../../../src/activities/tool/call-at-hand.ts'
import { KeptInstances } from '../../../src/activities/tool/kept-instances.ts'
import { findOut } from '../../../src/activities/tool/unknown-outcome.ts'
import { toTool } from '../../../src/tool/to-tool.ts'
import { type AnyTool } from '../../../src/tool/any-tool.ts'
import type { Verification } from '../../../src/tool/tool.ts'

const at = {
  input: { sessionId: 's-1', messageId: 'm-1', key: 't1.0.0' },
  call: { id: 'c-1', name: 'pay', arguments: '{"sum": 3}' },
  messages: [],
  hash: 'h',
  facts: { config: {} },
} as unknown as CallAtHand

function ask(
  given: AnyTool,
  stop = new AbortController(),
): { found: Promise<Verification | undefined>; warned: string[] } {
  const warned: string[] = []
  const warn = (message: string): void => void warned.push(message)
  const live = { card: () => expect.fail('people are shown nothing'), update: () => undefined } as unknown as LiveStep
  const deps = {
    agent: { skills: new Map(), limits: { toolTimeoutMs: 60_000 } },
    live: { step: () => live },
    log: { warn },
    keptInstances: new KeptInstances(warn),
  } as unknown as Deps
  return { found: findOut(deps, at, { tool: toTool(given), stop: stop.signal, withinMs: 60_000 }), warned }
}

const pay = { name: 'pay', description: 'd', parameters: { type: 'object' }, execute: () => 'never' }

describe('a tool that can verify', () => {
  it('gets the arguments and the context of its call, and shows people nothing', async () => {
    const { found } = ask({
      ...pay,
      verify: async (args, { sessionId, callId, idempotencyKey, signal, sendToolStatus, requestId }) => {
        await sendToolStatus(requestId, 'DOING', { showTip: 'looking' })
        return { happened: true, result: [args, sessionId, callId, idempotencyKey !== '', signal.aborted] }
      },
    })
    expect(await found).toEqual({ happened: true, result: [{ sum: 3 }, 's-1', 'c-1', true, false], values: [] })
  })

  it('is the instance of a factory, made for the question and disposed of after it', async () => {
    const disposed: string[] = []
    const { found } = ask({
      name: 'pay',
      factory: () => ({ ...pay, verify: () => ({ happened: false }), dispose: () => void disposed.push('pay') }),
    })
    expect(await found).toEqual({ happened: false, values: [] })
    await new Promise(setImmediate)
    expect(disposed).toEqual(['pay'])
  })

  it('shares the time-out of the tool, and its signal fires then', async () => {
    let signal: AbortSignal | undefined
    const { found, warned } = ask({
      ...pay,
      timeout: 1,
      verify: (_, ctx) => {
        signal = ctx.signal
        return new Promise(() => {})
      },
    })
    expect(await found).toBeUndefined()
    expect(signal?.aborted).toBe(true)
    expect(warned).toMatchObject([expect.stringContaining('did not end within')])
  })

  it('is stopped with the worker, without a warning', async () => {
    const stop = new AbortController()
    const { found, warned } = ask({ ...pay, verify: () => new Promise(() => {}) }, stop)
    stop.abort('shutdown')
    expect(await found).toBeUndefined()
    expect(warned).toEqual([])
  })
})
