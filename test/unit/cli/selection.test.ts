/** A command on many sessions: which failures count as failures of the command. */
import { afterEach, expect, it } from 'vitest'
import { StelloError, type ErrorCode } from '../../../src/core/errors.ts'
import { onSelected } from '../../../src/cli/commands/selection.ts'
import type { Context } from '../../../src/cli/commands/command-context.ts'

const before = process.exitCode
afterEach(() => void (process.exitCode = before))

/** Work that fails for the first of two sessions. */
async function selected(code: ErrorCode): Promise<{ told: string[]; done: string[]; failed: boolean }> {
  const [told, done]: string[][] = [[], []]
  const list = async () => [
    { id: 's-2', state: 'idle' },
    { id: 's-1', state: 'idle' },
  ]
  const context = { stello: { list }, out: { note: (text: string) => told?.push(text) } } as unknown as Context
  await onSelected(context, { all: true }, async ({ id }) => {
    if (id === 's-1') throw new StelloError(code, 'no')
    done?.push(id)
  })
  return { told: told ?? [], done: done ?? [], failed: process.exitCode === 1 }
}

it('goes on after one that fails, names it, and fails', async () => {
  expect(await selected('STORE_CORRUPT')).toEqual({ told: ['s-1: stello: no'], done: ['s-2'], failed: true })
})

it('names one that lives elsewhere, which is no failure', async () => {
  expect(await selected('SESSION_ELSEWHERE')).toEqual({ told: ['s-1: stello: no'], done: ['s-2'], failed: false })
})

it('skips one that was closed meanwhile', async () => {
  expect(await selected('SESSION_CLOSED')).toEqual({ told: [], done: ['s-2'], failed: false })
})
