/** What the actions of commands get. */
import type { StelloClient } from '../client/index.ts'
import type { Output } from './output.ts'

/** What an action gets: the client, and where output goes. */
export interface Context {
  stello: StelloClient
  out: Output
}

/** A command's action on an open client. */
export type OnSession = <Args extends unknown[]>(
  work: (context: Context, ...args: Args) => Promise<void>,
) => (...args: unknown[]) => Promise<void>
