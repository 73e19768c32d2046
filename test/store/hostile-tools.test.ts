/**
 * Whatever a tool throws or returns, its call ends in one attempt, as an error of the tool. Nobody takes it for the
 * death of a worker.
 */
import { expect, it } from 'vitest'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import { defineSimpleTool } from '../../src/tool/compat.ts'
import type { CallResult } from '../../src/protocol/steps.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession, placeAt, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

function gotcha(): never {
  throw new Error('gotcha')
}

/** An error of which a field cannot be read. */
function unreadable(field: string, of: Error = new Error('odd')): Error {
  return Object.defineProperty(of, field, { get: gotcha })
}

const known = (): Error => Object.assign(new Error('odd'), { name: 'StelloError', code: 'TOOL_EXECUTION_ERROR' })
const traps = { get: gotcha, has: gotcha, getPrototypeOf: gotcha, getOwnPropertyDescriptor: gotcha, ownKeys: gotcha }
const { proxy: revoked, revoke } = Proxy.revocable(new Error('odd'), {})
revoke()

const thrown: [string, () => unknown][] = [
  ...['message', 'name', 'stack', 'cause', 'code', 'hint', 'toString'].map((field): [string, () => unknown] => [
    `an error whose ${field} throws`,
    () => Promise.reject(unreadable(field)),
  ]),
  ...['message', 'code', 'hint', 'retryAfterMs', 'fate'].map((field): [string, () => unknown] => [
    `an error of this project whose ${field} throws`,
    () => Promise.reject(unreadable(field, known())),
  ]),
  ['a proxy that throws', () => Promise.reject(new Proxy(new Error('odd'), traps))],
  ['a revoked proxy', () => Promise.reject(revoked as Error)],
  ['an object without a string form', () => Promise.reject(Object.create(null) as Error)],
]
const returned: [string, () => unknown][] = [
  ['an error whose message throws', () => unreadable('message')],
  ['a failure whose error throws', () => ({ success: false, error: unreadable('message') })],
  ['a thenable that throws', () => new Proxy({}, { get: gotcha })],
  ['a proxy that throws', () => [new Proxy({}, traps)]],
  ['content that throws', () => Object.defineProperty({ isError: true }, 'content', { get: gotcha, enumerable: true })],
]

async function call(execute: () => unknown): Promise<{ outcome: CallResult; ran: number }> {
  let ran = 0
  const odd = defineSimpleTool({ name: 'odd', description: 'd', execute: () => (ran++, execute()) })
  const deps = depsOf(at.db, { llm: scriptedModel([]), capabilities: { tools: [odd] } })
  const run = await openSession(at.db)
  const { sessionId } = run
  const toolCall = { id: 'c-1', name: 'odd', arguments: '{}' }
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: [toolCall] }])
  const place = { sessionId, key: 't1.0.0', gen: 0, turn: 1, base: 1, place: placeAt(1), messageId: 'm', round: 0 }
  const input = { ...place, call: toolCall, index: 0, seq: 2 }
  return { outcome: (await attempt(run, () => callTool(deps, input))) as CallResult, ran }
}

it.each(thrown)('throws %s', async (_what, execute) => {
  expect(await call(execute)).toMatchObject({
    outcome: { kind: 'settled', isError: true, preview: expect.stringMatching(/^TOOL_EXECUTION_ERROR: /) as string },
    ran: 1,
  })
})

it.each(returned)('returns %s', async (_what, execute) => {
  expect(await call(execute)).toMatchObject({ outcome: { kind: 'settled', isError: true }, ran: 1 })
})
