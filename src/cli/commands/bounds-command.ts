/** `stello bounds` shows and changes the bounds of a tree. `stello start` has the same options for a new tree. */
import type { Command } from 'commander'
import type { CreateSessionOptions } from '../../client/index.ts'
import type { OnSession } from './command-context.ts'
import { onOne, withSession } from '../sessions/session-argument.ts'
import { wholeNumber } from './whole-number.ts'

type Bounds = NonNullable<CreateSessionOptions['bounds']>

export function addBoundsCommand(program: Command, on: OnSession): void {
  withSession(withBounds(program.command('bounds [session-id]')))
    .description('show the bounds of the tree of a session; with options, change them')
    .action(
      onOne(on)(async ({ out }, session, options: Bounds) => {
        const { rootId, sessions, bounds } = await session.bounds(takeBounds(options).bounds)
        const shown = Object.entries(bounds).map(([name, value]) => `${name} ${value}`)
        const rest =
          shown.length < 3 ? [`${shown.length > 0 ? 'the rest ' : ''}as its agent says when it is opened`] : []
        out.result({ rootId, sessions, bounds }, `${rootId}: ${sessions} sessions; ${[...shown, ...rest].join(', ')}`)
      }),
    )
}

export function withBounds(command: Command): Command {
  return command
    .option('--max-depth <n>', 'levels of forks below the root', wholeNumber)
    .option('--max-children <n>', 'forks of one session, closed ones too', wholeNumber)
    .option('--max-sessions <n>', 'sessions of the tree, closed ones too', wholeNumber)
}

/** Splits options into those of `withBounds` and the rest. */
export function takeBounds<Options extends object>({
  maxDepth,
  maxChildren,
  maxSessions,
  ...rest
}: Options & Bounds): { bounds: Bounds; rest: Omit<Options, keyof Bounds> } {
  const bounds: Bounds = {
    ...(maxDepth !== undefined && { maxDepth }),
    ...(maxChildren !== undefined && { maxChildren }),
    ...(maxSessions !== undefined && { maxSessions }),
  }
  return { bounds, rest }
}
