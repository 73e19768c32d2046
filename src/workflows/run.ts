/** What the parts of the performer share: whose run this is, and whom it tells what has happened. */
import { workflowInfo } from '@temporalio/workflow'
import type { Command } from '../session/commands.ts'
import type { Input } from '../session/inputs.ts'
import type { SessionInput } from '../protocol/session-input.ts'
import type { StepRef } from '../protocol/steps.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

/** Carries out some of the commands. A promise ends when nothing of the command is in flight any more. */
export type Performing<T extends Command['type']> = { [Type in T]: (command: Of<Type>) => Promise<void> }

export interface Run {
  readonly input: SessionInput
  emit(input: Input): void
  /**
   * Every activity gets these facts, because an announcement may reach the store before the session is opened. A reset
   * run keeps the first run id, but has a run id of its own, so it is not fresh.
   */
  facts: Pick<StepRef, 'prevRunId' | 'fresh' | 'store'>
  /** The model that answers now. */
  model(): { name: string; timeoutMs: number }
}

export function newRun(input: SessionInput, emit: Run['emit'], model: Run['model']): Run {
  const { continuedFromExecutionRunId: prevRunId, firstExecutionRunId, runId } = workflowInfo()
  const facts = {
    ...(prevRunId !== undefined && { prevRunId }),
    ...(firstExecutionRunId === runId && { fresh: runId }),
    ...(input.store !== undefined && { store: input.store }),
  }
  return { input, emit, facts, model }
}
