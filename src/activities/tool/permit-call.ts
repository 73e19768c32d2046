/** The permission of a call in its session. Reads the parts for `createPermit` from the store and the agent. */
import type { SessionTools } from '../../agent/tool-list.ts'
import type { ToolCall } from '../../core/message.ts'
import type { Skill } from '../../core/skill.ts'
import type { Permissions } from '../../permissions/decide.ts'
import { newEvent, type NewEvent } from '../../protocol/events.ts'
import type { CallToolInput } from '../../protocol/steps.ts'
import { MODE_TOOL, MODE_VALUE } from '../../tool/session-values.ts'
import type { Deps } from '../deps.ts'
import { sessionFacts } from '../session/about-session.ts'
import type { StoredSession } from '../session/session-configs.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import { readKeptRules, type RulePlace } from '../../store/sessions/kept-rules.ts'
import { shownNames } from './call-names.ts'
import { createPermit, type Decision, type Permit, type PermitContext } from './call-permit.ts'
import { permissionsOf, withSkills } from './session-permissions.ts'

export interface CallToPermit {
  input: CallToolInput
  call: ToolCall
  facts: StoredSession
  tools: SessionTools
  /** The skills whose rules hold. */
  loaded: readonly Skill[]
}

/**
 * @returns makes the permit of one attempt, which adds to `told` the events that must be stored with its end; undefined
 *   when permissions are off: nothing is read, and nothing is told
 */
export function permitCall(
  { agent, db }: Pick<Deps, 'agent' | 'db'>,
  { input, call, facts, tools, loaded }: CallToPermit,
): ((claim: Pick<Mine, 'lease' | 'decided'>, told: NewEvent[]) => Permit) | undefined {
  const { config } = facts
  const permitted = (chosen?: string): Permissions | undefined =>
    withSkills(permissionsOf(agent, config, chosen), loaded)
  const fixed = permitted()
  const changes = tools.find(MODE_TOOL) !== undefined
  if (!fixed && !changes) return undefined
  const standing = async ({ values }: PermitContext): Promise<Permissions | undefined> => {
    const chosen = changes ? await values?.get(MODE_VALUE) : undefined
    return typeof chosen === 'string' ? permitted(chosen) : fixed
  }
  return ({ lease, decided }, told) => {
    const approved = decided?.args ? true : decided?.shown
    return createPermit({
      agent,
      session: sessionFacts(input.sessionId, facts),
      input: call.arguments,
      standing,
      keptRules: () => readKeptRules(db, rulePlaceOf(input.sessionId, facts)),
      ...(approved !== undefined && { approved }),
      told: (decision) =>
        told.push(decidedEvent(input, decision.decision === 'ask' ? ['ask', lease] : [decision.decision], decision)),
    })
  }
}

/** The place of a session, as rules are kept for it. */
export function rulePlaceOf(sessionId: string, { rootId, config }: StoredSession): RulePlace {
  return { sessionId, rootId, agent: config.agent }
}

/** @param of tells it from other decisions about the call */
export function decidedEvent(
  { key, turn, round, call }: CallToolInput,
  of: readonly (string | number)[],
  decision: Decision,
): NewEvent {
  return newEvent('permission.decided', {
    of: [key, ...of],
    at: { turn, round },
    data: { ...shownNames(call), turn, ...decision },
  })
}
