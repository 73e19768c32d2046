/** What the actions of commands work with. */
import type { StelloClient } from '../client/index.ts'
import type { Output } from './output.ts'

/** What a command works with. */
export interface Context {
  stello: StelloClient
  out: Output
}

/** A command's action on an open client. */
export type OnSession = <Args extends unknown[]>(
  work: (context: Context, ...args: Args) => Promise<void>,
) => (...args: unknown[]) => Promise<void>
