/** Which session a person means. Must never guess between several: a command may close the session that it is given. */
import { StelloError } from '../../core/errors.ts'
import type { SessionHandle, SessionSummary, StelloClient } from '../../client/index.ts'
import { pickSession } from './pick-session.ts'

/** Roots that a person may choose from. */
const RECENT = 20

/**
 * The session that the text names: by its id, by the beginning of its id that no other has, or by its label. Without a
 * text a person at a terminal chooses.
 *
 * @param last the newest root, whatever it is called
 * @throws StelloError SESSION_NOT_FOUND; INVALID_ARGUMENT when the text fits several sessions, naming them, or when it
 *   is missing and nobody can be asked
 */
export async function findSession(
  stello: StelloClient,
  text: string | undefined,
  { last = false }: { last?: boolean } = {},
): Promise<SessionHandle> {
  if (last) return stello.session((await newestRoot(stello)).id)
  if (text === undefined) return stello.session((await pickSession(await stello.roots({ limit: RECENT }))).id)
  const [found, ...others] = await stello.find(text)
  if (found && others.length === 0) return stello.session(found.id)
  throw found ? ambiguous(text, [found, ...others]) : unknown(text)
}

async function newestRoot(stello: StelloClient): Promise<SessionSummary> {
  const [newest] = await stello.roots({ limit: 1 })
  if (newest) return newest
  throw new StelloError('SESSION_NOT_FOUND', 'there is no session yet', {
    hint: '`stello start AGENT --message "…" --wait` begins one',
  })
}

function ambiguous(text: string, found: readonly SessionSummary[]): StelloError {
  const lines = found.map(({ id, state, agent, label }) => `  ${id}  ${state.padEnd(7)} ${agent}: ${label}`)
  return new StelloError('INVALID_ARGUMENT', `"${text}" fits more than one session`, {
    hint: `give more of the id:\n${lines.join('\n')}`,
  })
}

function unknown(text: string): StelloError {
  return new StelloError('SESSION_NOT_FOUND', `there is no session "${text}"`, {
    hint: '`stello list` shows all sessions',
  })
}
