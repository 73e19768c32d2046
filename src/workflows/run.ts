/** What the parts of the performer share: whose run this is, and whom it tells what has happened. */
import { workflowInfo, type WorkflowInfo } from '@temporalio/workflow'
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
  /** Every activity gets these facts, because an announcement may reach the store before the session is opened. */
  facts: Pick<StepRef, 'prevRunId' | 'fresh' | 'store'>
  /** The model that answers now. */
  model(): { name: string; timeoutMs: number }
}

export function newRun(input: SessionInput, emit: Run['emit'], model: Run['model']): Run {
  return { input, emit, facts: factsOf(input, workflowInfo()), model }
}

type RunInfo = Pick<
  WorkflowInfo,
  'continuedFromExecutionRunId' | 'firstExecutionRunId' | 'originalExecutionRunId' | 'runId'
>

/**
 * A run is fresh if it was started anew, or continues a fresh run whose opening failed. A reset run is not: it keeps the
 * first and the original run id, and has a run id of its own.
 */
export function factsOf({ state, store }: SessionInput, run: RunInfo): Run['facts'] {
  const { continuedFromExecutionRunId: prevRunId, firstExecutionRunId, originalExecutionRunId, runId } = run
  const fresh = firstExecutionRunId === runId || (state?.fresh === true && originalExecutionRunId === runId)
  return {
    ...(prevRunId !== undefined && { prevRunId }),
    ...(fresh && { fresh: runId }),
    ...(store !== undefined && { store }),
  }
}
