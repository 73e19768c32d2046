/** Searches that would take for ever are ended, and the worker goes on meanwhile. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { inThread, ThreadEnded } from '../../../src/capabilities/thread/in-thread.ts'
import { useFolder } from './folders.ts'

const spinning = new URL('./spinning.ts', import.meta.url)

it.each([
  ['time', { pattern: '^(a+)+$', text: `${'a'.repeat(60)}b` }, 3000],
  ['memory', { grow: true }, 60_000],
] as const)(
  'a search without end is ended for want of %s, by a timer of the event loop',
  async (why, input, timeoutMs) => {
    const searching = inThread(spinning, input, { timeoutMs, signal: new AbortController().signal })
    await expect(searching).rejects.toSatisfy((error) => error instanceof ThreadEnded && error.why === why)
  },
)

it('a search is ended when its call is stopped, also one that waits for its turn', async () => {
  const stop = new AbortController()
  const endless = { pattern: '^(a+)+$', text: `${'a'.repeat(60)}b` }
  const searches = Array.from({ length: 8 }, () =>
    inThread(spinning, endless, { timeoutMs: 60_000, signal: stop.signal }),
  )
  stop.abort(new Error('cancelled'))
  for (const search of await Promise.allSettled(searches))
    expect(search).toMatchObject({ reason: { message: 'cancelled' } })
  const next = inThread(
    spinning,
    { pattern: 'a', text: 'a' },
    { timeoutMs: 60_000, signal: new AbortController().signal },
  )
  expect(await next).toBe(true)
})

it('an error of a search is passed on', async () => {
  const searching = inThread(spinning, { pattern: '(' }, { timeoutMs: 60_000, signal: new AbortController().signal })
  await expect(searching).rejects.toThrow('Invalid regular expression')
})

it('Glob with *a*a*a*a*a*a*a*ab on a name of 120 a is ended with its call, and other searches go on', async () => {
  const { root, tool, context, call } = useFolder({ 'b.ts': '' })
  writeFileSync(join(root, 'a'.repeat(120)), '')
  const stop = new AbortController()
  const hostile = tool('Glob').execute({ pattern: '*a*a*a*a*a*a*a*ab' }, { ...context(), signal: stop.signal })
  expect((await call('Glob', { pattern: '*.ts' })).text).toBe('b.ts')
  stop.abort(new Error('stopped'))
  await expect(hostile).rejects.toThrow('stopped')
})
