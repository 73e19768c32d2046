/** The commands that look at sessions: what happens in them, which there are, what they took. They change nothing. */
import { Option, type Command } from 'commander'
import type { StelloClient } from '../client/index.ts'
import { PAUSE_REASONS, type StelloError } from '../core/errors.ts'
import { SESSION_STATUSES } from '../protocol/views.ts'
import type { OnSession } from './command-context.ts'
import { eventLine, sessionLine, statsLine, treeLines } from './format.ts'
import { untilInterrupted } from './interrupted.ts'
import { onOne, withSession } from './session-argument.ts'
import { noteUnserved } from './unserved.ts'
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
        for await (const event of session.watch({ ...options, signal: untilInterrupted(), onAway })) {
          if (out.json || eventLine(event) !== undefined) out.result(event, (shown) => eventLine(shown) ?? '')
        }
      }),
    )

  withSession(program.command('tree [session-id]'))
    .description('show the session and its forks')
    .action(
      onOne(on)(async ({ out }, session) => {
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
    .action(
      on(async ({ stello, out }, options: Parameters<StelloClient['list']>[0]) => {
        const sessions = await stello.list(options)
        for (const session of sessions) out.result(session, sessionLine)
        const open = sessions.filter(({ state }) => state !== 'closed').map(({ agent }) => agent)
        await noteUnserved({ stello, out }, ...open, ...(options?.agent === undefined ? [] : [options.agent]))
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
