/** Asks the person at the terminal which session is meant. Must never ask if nobody can answer. */
import { StelloError } from '../../core/errors.ts'
import type { SessionSummary } from '../../client/index.ts'
import { age } from '../output/format.ts'
import { printable } from '../output/printable.ts'

/** Whether somebody at a terminal can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true
}

/**
 * @param sessions newest first
 * @throws StelloError INVALID_ARGUMENT when nobody can be asked, or nothing is chosen; SESSION_NOT_FOUND when there is none
 */
export async function pickSession(sessions: readonly SessionSummary[]): Promise<SessionSummary> {
  if (!canAsk()) throw unnamed()
  if (sessions.length === 0) {
    throw new StelloError('SESSION_NOT_FOUND', 'there is no session yet', {
      hint: '`stello start AGENT --message "…" --wait` begins one',
    })
  }
  const { isCancel, select } = await import('@clack/prompts')
  const chosen = await select({
    message: 'Which session?',
    options: printable(sessions).map((session) => ({
      value: session.id,
      label: `${session.label}  ${session.state}`,
      hint: `${session.agent}, ${age(session.createdAt)} ago, ${session.id}`,
    })),
  })
  const session = sessions.find(({ id }) => id === chosen)
  if (isCancel(chosen) || !session) throw new StelloError('INVALID_ARGUMENT', 'no session was chosen')
  return session
}

/** The hint when a session has to be named. */
export function unnamed(): StelloError {
  return new StelloError('INVALID_ARGUMENT', 'no session is named', {
    hint: 'give an id, the beginning of one, or a label; --last is the newest session',
  })
}
