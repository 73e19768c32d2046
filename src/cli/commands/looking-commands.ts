/** The commands that look at sessions: their events, their list, their trees, their use. They change nothing. */
import { Option, type Command } from 'commander'
import type { SessionFilter, SessionSummary, SessionTree, StelloClient, TreeTotals } from '../../client/index.ts'
import { PAUSE_REASONS, type StelloError } from '../../core/errors.ts'
import { SESSION_STATUSES } from '../../protocol/views.ts'
import type { OnSession } from './command-context.ts'
import { findSession } from '../sessions/find-session.ts'
import { onTerminal, terminalColumns } from '../output/fit-line.ts'
import { eventLine, sessionLine, statsLine, treeLines } from '../output/format.ts'
import { untilInterrupted } from '../interrupted.ts'
import { showTreeLive } from '../output/live-tree.ts'
import { onOne, withSession } from '../sessions/session-argument.ts'
import { sessionTable } from '../output/session-table.ts'
import { noteUnserved } from '../sessions/unserved.ts'
import { createWatchLines } from '../output/watch-lines.ts'
import { wholeNumber } from './whole-number.ts'

export function addLookingCommands(program: Command, on: OnSession): void {
  withSession(program.command('watch [session-id]'))
    .description('print events as they come, until Ctrl-C')
    .option('--tree', 'also the sessions below')
    .option('--from <cursor>', "an offset, the cursor of an event, or 'now'")
    .action(
      onOne(on)(async ({ out }, session, options: { tree?: boolean; from?: string }) => {
        const onAway = (error: StelloError): void =>
          out.note(`the watch goes on when the store is back: ${error.message}`)
        const live = !out.json && onTerminal()
        const lines = createWatchLines({ named: options.tree === true, columns: terminalColumns })
        for await (const event of session.watch({ ...options, signal: untilInterrupted(), onAway })) {
          if (live) out.write(event, lines)
          else if (out.json || eventLine(event) !== undefined) out.result(event, (shown) => eventLine(shown) ?? '')
        }
      }),
    )

  withSession(program.command('tree [session-id]'))
    .description('show the session and its forks')
    .option('--live', 'draw it anew as it changes, until the session is closed or Ctrl-C')
    .action(
      onOne(on)(async ({ out }, session, { live = false }: { live?: boolean }) => {
        if (live) return showTreeLive(session, out, untilInterrupted())
        const tree = await session.tree()
        out.result(tree, (shown) => treeLines(shown).join('\n'))
      }),
    )

  program
    .command('list')
    .description('list sessions, newest first')
    .option('--agent <name>')
    .addOption(new Option('--state <state>').choices(SESSION_STATUSES))
    .addOption(new Option('--reason <reason>', 'only those paused for it').choices(PAUSE_REASONS))
    .option('--limit <n>', 'at most this many', wholeNumber, 50)
    .option('--all', 'forks too; always where the output is no terminal')
    .option('--tree <session-id>', 'only the session and what is below it')
    .action(
      on(async ({ stello, out }, options: ListOptions) => {
        const table = !out.json && onTerminal()
        const sessions = await listed(stello, options, table)
        if (table)
          out.write(sessions, (shown) =>
            sessionTable(shown, terminalColumns())
              .map((line) => `${line}\n`)
              .join(''),
          )
        else for (const session of sessions) out.result(session, sessionLine)
        const open = sessions.filter(({ state }) => state !== 'closed').map(({ agent }) => agent)
        await noteUnserved({ stello, out }, ...open, ...(options.agent === undefined ? [] : [options.agent]))
      }),
    )

  withSession(program.command('stats [session-id]'))
    .description('show counts, tokens, and durations per tool (needs a running worker)')
    .action(
      onOne(on)(async ({ out }, session) => {
        const stats = await session.stats()
        const { turns, modelCalls, toolCalls, inputTokens, outputTokens } = stats.totals
        const tools = stats.tools.map(statsLine)
        const totals = `${turns} turns, ${modelCalls} model calls, ${toolCalls} tool calls, ${inputTokens} tokens in, ${outputTokens} out`
        out.result(stats, [totals, ...tools].join('\n'))
      }),
    )
}

type ListOptions = Pick<SessionFilter, 'agent' | 'state' | 'reason'> & { limit: number; all?: boolean; tree?: string }

/** A terminal shows roots, with the totals of their trees, unless forks are asked for. */
async function listed(
  stello: StelloClient,
  { all = false, tree, limit, agent, state, reason }: ListOptions,
  table: boolean,
): Promise<(SessionSummary & { tree?: TreeTotals })[]> {
  const filter = { limit, ...(agent !== undefined && { agent }), ...(state && { state }) }
  if (table && !all && tree === undefined && !reason) return stello.roots(filter)
  if (tree === undefined) return stello.list({ ...filter, ...(reason && { reason }) })
  const below = flatten(await (await findSession(stello, tree)).tree())
  const wanted = below.filter(
    (session) =>
      (agent === undefined || session.agent === agent) &&
      (!state || session.state === state) &&
      (!reason || session.pause?.reason === reason),
  )
  return wanted.slice(0, limit)
}

function flatten({ children, ...session }: SessionTree): SessionSummary[] {
  return [session, ...children.flatMap(flatten)]
}
