/** The context of the actions of commands. */
import type { StelloClient } from '../../client/index.ts'
import type { Output } from '../output/output.ts'

/** The arguments of an action: the client, and the output. */
export interface Context {
  stello: StelloClient
  out: Output
}

/** A command's action on an open client. */
export type OnSession = <Args extends unknown[]>(
  work: (context: Context, ...args: Args) => Promise<void>,
) => (...args: unknown[]) => Promise<void>
