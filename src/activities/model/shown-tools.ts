/** Which of a session's tools its model is shown in this call. */
import { DISCOVERED, namesDiscovered } from '../../agent/hidden-tools.ts'
import type { SessionTools } from '../../agent/tool-list.ts'
import type { Branch } from '../../protocol/config.ts'
import type { Database } from '../../store/database/database.ts'
import { readValue } from '../../store/transcript/values.ts'

/** All tools except hidden ones that are not discovered yet. If none is hidden, the store is not asked. */
export async function shownTools(db: Database, tools: SessionTools, at: Branch): Promise<SessionTools> {
  if (tools.hidden.size === 0) return tools
  const discovered = new Set(namesDiscovered(await readValue(db, at, DISCOVERED)))
  const specs = tools.specs.filter(({ name }) => !tools.hidden.has(name) || discovered.has(name))
  return { ...tools, specs }
}
