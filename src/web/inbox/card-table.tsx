/**
 * What waits for a person: a line and a card for every kind, in one table. A new kind of `src/protocol/pending.ts` does not
 * compile until it has its entry here.
 */
import type { ReactNode } from 'react'
import type { PendingKind } from '../../client/index.ts'
import { ApprovalCard } from './approval-card.tsx'
import type { QuestionCardProps } from './card-props.ts'
import { QuestionCard } from './question-card.tsx'
import { UnknownOutcomeCard } from './unknown-outcome-card.tsx'

interface Entry {
  /** The word above the card. */
  title: string
  /** What the notice says after an answer. */
  done: string
  Card(props: QuestionCardProps): ReactNode
}

/** Pauses are answered by a resume, not by a word: `PausedCard`. */
export const CARDS: Readonly<Record<PendingKind, Entry>> = {
  approval: { title: 'Approval', done: 'Decided.', Card: ApprovalCard },
  question: { title: 'Question', done: 'Answered.', Card: QuestionCard },
  unknown_outcome: { title: 'Unknown outcome', done: 'Told.', Card: UnknownOutcomeCard },
}
