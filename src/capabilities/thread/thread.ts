/** The other side of `in-thread.ts`: the code that a thread starts. */
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../core/errors.ts'

export interface ThreadWork {
  /** URL of the module whose `run` is called. */
  module: string
  input: unknown
}

export type ThreadAnswer = { value: unknown } | { error: string }

async function answer({ module, input }: ThreadWork): Promise<ThreadAnswer> {
  try {
    const { run } = (await import(module)) as { run(input: unknown): unknown }
    return { value: await run(input) }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

parentPort?.postMessage(await answer(workerData as ThreadWork))
