/** "Always allow": keeps the rules that a person was shown, and lets other waiting calls go on that the rules cover. */
import { messageOf } from '../../core/errors.ts'
import { answerSignal } from '../../protocol/temporal-messages.ts'
import { PENDING, type PendingItem } from '../../protocol/pending.ts'
import { readQuestions, type InboxQuestion } from '../../store/watching/inbox.ts'
import { keepRules, type RuleReach } from '../../store/sessions/kept-rules.ts'
import { readSubtree } from '../../store/sessions/tree.ts'
import type { Deps } from '../deps.ts'

/** May be repeated. */
export async function rememberRules(
  { db }: Pick<Deps, 'db'>,
  reach: RuleReach,
  { permit }: PendingItem,
): Promise<void> {
  if (permit && permit.rules.length > 0) await keepRules(db, reach, permit.rules)
}

/** Calls whose question is not answered by this stay as they are: a person may still answer them one by one. */
export async function releaseCovered(
  { db, client, log }: Pick<Deps, 'db' | 'client' | 'log'>,
  reach: RuleReach,
  { id, permit }: PendingItem,
): Promise<void> {
  const covered = new Set(permit?.rules)
  const released = (await waitingIn({ db }, reach)).filter(
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

async function waitingIn({ db }: Pick<Deps, 'db'>, reach: RuleReach): Promise<InboxQuestion[]> {
  switch (reach.scope) {
    case 'session':
      return readQuestions(db, [reach.sessionId])
    case 'tree':
      return readQuestions(db, await readSubtree(db, reach.rootId))
    case 'agent':
      return (await readQuestions(db)).filter(({ agent }) => agent === reach.agent)
  }
}

function isCovered({ permit }: InboxQuestion, covered: ReadonlySet<string>): boolean {
  const rules = permit?.rules ?? []
  return rules.length > 0 && rules.every((rule) => covered.has(rule))
}
