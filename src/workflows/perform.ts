/**
 * Carries out the commands of `step`: a command starts an activity, a child workflow or a signal, and its end becomes
 * an input. This code decides nothing about the session and remembers only what is in flight.
 */
import { sleep } from '@temporalio/workflow'
import type { Command } from '../session/commands.ts'
import type { Input } from '../session/inputs.ts'
import type { SessionInput } from '../protocol/session-input.ts'
import { performForChildren } from './perform-children.ts'
import { performSteps } from './perform-steps.ts'
import { performTelling } from './perform-telling.ts'
import { newRun, type Performing, type Run } from './run.ts'

export interface Performer {
  perform(command: Command): void
  /**
   * True if nothing is in flight that must end before continue-as-new or the workflow's end. The wait for a child need
   * not end.
   */
  quiet(): boolean
  /** People are being told of something. The next run would tell it again, so this one continues as new only behind that. */
  telling(): boolean
  /** Whether this run will be told when that child ends. */
  hears(childId: string): boolean
}

export function createPerformer(input: SessionInput, emit: Run['emit'], model: Run['model']): Performer {
  const run = newRun(input, emit, model)
  const telling = performTelling(run)
  const children = performForChildren(run)
  const performing: Performing<Command['type']> = {
    ...performSteps(run),
    ...telling,
    ...children,
    ...performWaits(run),
  }
  let inFlight = 0
  return {
    perform(command) {
      inFlight++
      const done = (performing[command.type] as (command: Command) => Promise<void>)(command)
      void done.finally(() => inFlight--)
    },
    quiet: () => inFlight === 0,
    telling: telling.telling,
    hears: children.hears,
  }
}

function performWaits(run: Run): Performing<'tryAgain' | 'endWait' | 'endAsking'> {
  return {
    tryAgain: async ({ at }) =>
      happensAt(run, at, { input: { type: 'tryDue', at }, summary: 'until the session tries again' }),

    endWait: async ({ callKey, until }) =>
      happensAt(run, until, {
        input: { type: 'waitOver', callKey, until },
        summary: 'until the wait for agents is over',
      }),

    endAsking: async ({ callKey, id, at }) =>
      happensAt(run, at, {
        input: { type: 'askingOver', callKey, id },
        summary: `until nobody may answer ${id} any more`,
      }),
  }
}

/** Not in flight: the next run promises it anew. @param time ISO 8601 */
function happensAt({ emit }: Run, time: string, { input, summary }: { input: Input; summary: string }): void {
  void sleep(Math.max(1, Date.parse(time) - Date.now()), { summary }).then(() => emit(input))
}
