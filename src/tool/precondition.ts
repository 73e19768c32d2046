/**
 * A tool's demands beyond its schema: "enough funds", "the branch exists". They are checked right before the tool runs.
 */
import { StelloError, messageOf } from '../core/errors.ts'

/** The answer of `validate`. `reason` tells the model what it has to change. */
export interface Validation {
  /** Whether the tool may run. */
  valid: boolean
  /** The reason of a refusal, for the model. */
  reason?: string
}

/** Returning nothing means yes: some checks only throw. */
export type Validated = Validation | undefined | void

/** @throws StelloError TOOL_PRECONDITION_FAILED when `validate` says no or throws; its message is all the model reads */
export async function demand(validate: () => Validated | Promise<Validated>): Promise<void> {
  const { valid, reason } = await ask(validate)
  if (!valid) throw failed(reason ?? 'the tool gave no reason')
}

async function ask(validate: () => Validated | Promise<Validated>): Promise<Validation> {
  try {
    return (await validate()) ?? { valid: true }
  } catch (error) {
    throw failed(messageOf(error), error)
  }
}

function failed(reason: string, cause?: unknown): StelloError {
  return new StelloError('TOOL_PRECONDITION_FAILED', `Tool precondition failed: ${reason}`, { cause })
}
