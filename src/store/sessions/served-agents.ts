/** The agents whose workers have served this store, with what they offer. */
import { storableJson } from '../../core/clean.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

export interface AgentManifest {
  profiles: string[]
  tools: string[]
  skills: string[]
}

const SAVE_AGENT: Statement = statement(
  'agent_save',
  `insert into agents (name, manifest) values ($1, $2)
         on conflict (name) do update set manifest = excluded.manifest, seen_at = now()`,
)
const AGENTS: Statement = statement('agents_read', 'select name, manifest from agents order by seen_at desc')

/** Stores the profiles, tools and skills that a worker serves, so that a client can refuse an unknown name before it starts anything. */
export async function saveAgent(db: Database, name: string, manifest: AgentManifest): Promise<void> {
  await run(db.pool, SAVE_AGENT, [name, storableJson(manifest)])
}

export async function readAgents(db: Database): Promise<{ name: string; manifest: AgentManifest }[]> {
  return run(db.pool, AGENTS, [])
}
