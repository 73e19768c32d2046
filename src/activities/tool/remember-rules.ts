/** "Always allow": keeps the rules that a person was shown, and lets other waiting calls go on that the rules cover. */
import { messageOf } from '../../core/errors.ts'
import { answerSignal } from '../../protocol/temporal-messages.ts'
import { PENDING, type PendingItem } from '../../protocol/pending.ts'
import type { Remember } from '../../protocol/read-answer.ts'
import { readQuestions, type InboxQuestion } from '../../store/watching/inbox.ts'
import { keepRules, type RulePlace } from '../../store/sessions/kept-rules.ts'
import { readSubtree } from '../../store/sessions/tree.ts'
import type { Deps } from '../deps.ts'

/** May be repeated. */
export async function rememberRules(
  { db }: Pick<Deps, 'db'>,
  place: RulePlace,
  { permit }: PendingItem,
  scope: Remember,
): Promise<void> {
  if (permit && permit.rules.length > 0) await keepRules(db, place, scope, permit.rules)
}

/** Calls whose question is not answered by this stay as they are: a person may still answer them one by one. */
export async function releaseCovered(
  { db, client, log }: Pick<Deps, 'db' | 'client' | 'log'>,
  place: RulePlace,
  { id, permit }: PendingItem,
  scope: Remember,
): Promise<void> {
  const covered = new Set(permit?.rules)
  const released = (await waitingIn({ db }, place, scope)).filter(
    (item) => PENDING[item.kind].permits && item.id !== id && isCovered(item, covered),
  )
  for (const item of released) {
    try {
      await client.workflow.getHandle(item.sessionId).signal(answerSignal, { id: item.id, decision: 'approve' })
    } catch (error) {
      log.warn(`session ${item.sessionId}: a call that is permitted by now still waits: ${messageOf(error)}`)
    }
  }
}

async function waitingIn({ db }: Pick<Deps, 'db'>, place: RulePlace, scope: Remember): Promise<InboxQuestion[]> {
  switch (scope) {
    case 'session':
      return readQuestions(db, [place.sessionId])
    case 'tree':
      return readQuestions(db, await readSubtree(db, place.rootId))
    case 'agent':
      return (await readQuestions(db)).filter(({ agent }) => agent === place.agent)
  }
}

function isCovered({ permit }: InboxQuestion, covered: ReadonlySet<string>): boolean {
  const rules = permit?.rules ?? []
  return rules.length > 0 && rules.every((rule) => covered.has(rule))
}
