/** Holds everything that a demo opens, and closes it in reverse order, however the demo ends. */
import type { Command } from 'commander'
import { interrupted } from '../src/cli/interrupted.ts'
import { explain } from '../src/cli/output/output.ts'

export interface Stage {
  /** Resolves when somebody wants the demo to end. */
  readonly stop: Promise<void>
  /** Rejects at the same moment, for use in races. */
  readonly stopped: Promise<never>
  /** Waits until something is open, and closes it at the end, also if the demo is stopped while it opens. */
  open<T>(opening: Promise<T>, close: (it: T) => Promise<unknown> | undefined): Promise<T>
  /** Adds something that must be done at the end. */
  atEnd(close: () => Promise<unknown> | undefined): void
}

/** @param unfinished what the stop has prevented, for the error */
export async function onStage(unfinished: string, play: (stage: Stage) => Promise<void>): Promise<void> {
  let isStopped = false
  const stop = interrupted()
  const stopped = stop.then((): never => {
    isStopped = true
    throw new Error(`stopped before ${unfinished}`)
  })
  stopped.catch(() => undefined)
  const closing: (() => Promise<unknown> | undefined)[] = []
  const stage: Stage = {
    stop,
    stopped,
    async open(opening, close) {
      const it = await opening
      closing.unshift(() => close(it))
      return isStopped ? stopped : it
    },
    atEnd: (close) => void closing.unshift(close),
  }
  try {
    await play(stage)
  } catch (error) {
    // Ctrl-C on a terminal also reaches programs that are just being started. Their failure is not worth a message then.
    throw isStopped ? new Error(`stopped before ${unfinished}`) : error
  } finally {
    for (const close of closing) await close()
  }
}

/** Runs a demo as a program: an error is explained on stderr, and the exit code is 1. */
export async function runProgram(program: Command): Promise<never> {
  try {
    await program.parseAsync()
    return process.exit()
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`)
    return process.exit(1)
  }
}

export function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
