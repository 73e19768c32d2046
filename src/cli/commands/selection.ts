/** Commands for many sessions: selects the sessions, and goes on when one of them fails. */
import { Option, type Command } from 'commander'
import { PAUSE_REASONS, isStelloError } from '../../core/errors.ts'
import { SESSION_STATUSES } from '../../protocol/views.ts'
import type { SessionFilter, SessionSummary } from '../../client/index.ts'
import { explain } from '../output/output.ts'
import { withLast } from '../sessions/session-argument.ts'
import type { Context } from './command-context.ts'

export type Selection = Pick<SessionFilter, 'agent' | 'state' | 'reason'> & { all?: boolean; last?: boolean }

const EVERY = 1_000_000

/** Adds `--last`, `--all` and the options that narrow it to a command whose session may be left out. */
export function withSelection(command: Command, all: string): Command {
  return withLast(command)
    .option('--all', all)
    .option('--agent <name>', 'with --all: only sessions of that agent')
    .addOption(
      new Option('--state <state>', 'with --all: only those').choices(
        SESSION_STATUSES.filter((one) => one !== 'closed'),
      ),
    )
    .addOption(new Option('--reason <reason>', 'with --all: only those paused for it').choices(PAUSE_REASONS))
    .hook('preAction', (selecting) => {
      const { all: every = false, last = false, agent, state, reason } = selecting.opts<Selection>()
      if ((selecting.args[0] !== undefined || last) === every)
        selecting.error('error: name one session, or use --last or --all')
      if (!every && [agent, state, reason].some((one) => one !== undefined))
        selecting.error('error: --agent, --state and --reason need --all')
    })
}

/**
 * Works on the oldest session first. A session that fails does not stop the others: it is named, and the exit code is
 * 1. A session that was closed meanwhile is skipped. One that belongs to another namespace or store is named, and
 * counts as no failure.
 */
export async function onSelected(
  { stello, out }: Context,
  { agent, state, reason }: Selection,
  work: (session: SessionSummary) => Promise<void>,
): Promise<void> {
  const wanted = { ...(agent && { agent }), ...(state && { state }), ...(reason && { reason }) }
  const open = (await stello.list({ ...wanted, limit: EVERY })).filter((session) => session.state !== 'closed')
  for (const session of open.toReversed()) {
    try {
      await work(session)
    } catch (error) {
      if (isStelloError(error) && error.code === 'SESSION_CLOSED') continue
      if (!isStelloError(error) || error.code !== 'SESSION_ELSEWHERE') process.exitCode = 1
      out.note(`${session.id}: ${explain(error)}`)
    }
  }
}
