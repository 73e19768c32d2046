/** Repeats the checks of the client when a worker reads a session: another program may have written the row. */
import { StelloError } from '../../core/errors.ts'
import { sessionIdProblem, userIdProblem } from '../../core/path-part.ts'
import { permissionModeProblem } from '../../protocol/permission-mode.ts'
import type { SessionRow } from '../../store/sessions/session-row.ts'

/** @throws StelloError STORE_CORRUPT naming the field: such a session does not begin */
export function checkRow({ id, config: { userId, permissionMode } }: SessionRow): void {
  const problems = {
    id: sessionIdProblem(id),
    userId: userId === undefined ? undefined : userIdProblem(userId),
    permissionMode: permissionMode === undefined ? undefined : permissionModeProblem(permissionMode),
  }
  for (const [field, problem] of Object.entries(problems)) {
    if (problem === undefined) continue
    throw new StelloError('STORE_CORRUPT', `the row of session ${id}: ${field}: ${problem}`, {
      hint: 'correct it in the table `sessions`, then resume; or close the session',
    })
  }
}
