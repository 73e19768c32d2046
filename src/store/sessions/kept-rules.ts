/**
 * Rules that people have added with an answer: calls that they cover run from then on without a question, in one session, in its
 * tree, or in all sessions of an agent.
 */
import { run, type Database } from '../database/database.ts'
import { ISO } from '../watching/inbox.ts'
import { statement, type Statement } from '../database/statement.ts'

/** Where a rule counts: in a session, a tree, or all sessions of an agent. */
export type RuleScope = 'session' | 'tree' | 'agent'

/** A rule that a person has added. */
export interface KeptRule {
  /** Where it counts. */
  scope: RuleScope
  /** The id of the session, the id of the tree's root, or the name of the agent. */
  owner: string
  /** The rule, for example `Bash(npm test)`. */
  rule: string
  /** The session in which it was added. */
  sessionId: string
  /** When, ISO 8601, by the store's clock. */
  at: string
}

/** A session, as far as rules are kept for it. */
export interface RulePlace {
  sessionId: string
  rootId: string
  agent: string
}

/** A session, and where the rules count that are added in it. */
export interface RuleReach extends RulePlace {
  scope: RuleScope
}

const KEEP: Statement = statement(
  'rules_keep',
  `insert into permission_rules (scope, owner, rule, session_id)
         select $1, $2, rule, $4 from unnest($3::text[]) rule on conflict do nothing`,
)
const READ: Statement = statement(
  'rules_read',
  `select rule from permission_rules
         where (scope, owner) in (('session', $1), ('tree', $2), ('agent', $3)) order by at, rule`,
)
const LIST: Statement = statement(
  'rules_list',
  `select scope, owner, rule, session_id as "sessionId", ${ISO('at')} as at from permission_rules order by permission_rules.at, rule`,
)
const FORGET: Statement = statement(
  'rules_forget',
  `delete from permission_rules where scope = $1 and owner = $2 and rule = $3 returning rule`,
)

export async function keepRules(db: Database, reach: RuleReach, rules: readonly string[]): Promise<void> {
  await run(db.pool, KEEP, [reach.scope, ownerOf(reach), rules, reach.sessionId])
}

/** The rules that count in a session. */
export async function readKeptRules(db: Database, { sessionId, rootId, agent }: RulePlace): Promise<string[]> {
  const rows = await run<{ rule: string }>(db.pool, READ, [sessionId, rootId, agent])
  return rows.map(({ rule }) => rule)
}

/** All rules, oldest first. */
export function listKeptRules(db: Database): Promise<KeptRule[]> {
  return run<KeptRule>(db.pool, LIST, [])
}

/** @returns false when there is no such rule */
export async function forgetRule(
  db: Database,
  { scope, owner, rule }: Pick<KeptRule, 'scope' | 'owner' | 'rule'>,
): Promise<boolean> {
  return (await run(db.pool, FORGET, [scope, owner, rule])).length > 0
}

function ownerOf({ sessionId, rootId, agent, scope }: RuleReach): string {
  switch (scope) {
    case 'session':
      return sessionId
    case 'tree':
      return rootId
    case 'agent':
      return agent
  }
}
