/** Shared by the tests of this folder: a model that is never asked, a small tool, and the message of a StelloError. */
import { StelloError, type ErrorCode } from '../../../src/core/errors.ts'
import type { ModelLike } from '../../../src/core/model.ts'
import type { ToolLike } from '../../../src/tool/any-tool.ts'

export const llm: ModelLike = { name: 'silent', complete: () => Promise.reject(new Error('nobody asks this model')) }

export function named(name: string): ToolLike {
  return { name, description: `does ${name}`, parameters: { type: 'object' }, execute: () => name }
}

export function refusal(code: ErrorCode, act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof StelloError && error.code === code) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}
