/** The choices of a person when something waits: a list, one row for each answer. Pure. */
import type { AnswerOptions, InboxItem, InboxQuestion } from '../../client/index.ts'
import { PENDING, type PendingKind } from '../../protocol/pending.ts'
import { REMEMBERS, type Remember } from '../../protocol/read-answer.ts'

/** The effect of a row. */
export type Choice =
  /** The answer is complete. */
  | { to: 'answer'; answer: AnswerOptions }
  /** A text is typed first. */
  | { to: 'type'; answer: AnswerOptions; prompt: string; field: 'text' | 'values' }
  /** The arguments are edited first. */
  | { to: 'edit' }
  /** The option is chosen or no longer chosen. */
  | { to: 'toggle'; option: string }
  /** All options that are chosen are the answer. */
  | { to: 'chosen' }
  | { to: 'resume' }
  | { to: 'switch'; sessionId: string }

export interface Row {
  label: string
  about?: string
  choice: Choice
}

/** Where a permission holds from now on, as text for people. */
const WHERE: Readonly<Record<Remember, string>> = {
  session: 'in this session',
  tree: 'in this tree of sessions',
  agent: 'wherever this agent works',
}

/** The rows of an item of the inbox. @param chosen the options chosen so far */
export function rowsOf(item: InboxItem, chosen: readonly string[] = []): Row[] {
  if (item.kind === 'paused')
    return [{ label: 'resume', about: 'go on with the step that was due', choice: { to: 'resume' } }]
  return ROWS[item.kind](item, chosen)
}

const ROWS: Readonly<Record<PendingKind, (item: InboxQuestion, chosen: readonly string[]) => Row[]>> = {
  approval: approvalRows,
  question: questionRows,
  unknown_outcome: outcomeRows,
}

function approvalRows({ permit }: InboxQuestion): Row[] {
  const [rule] = permit?.rules ?? []
  const always =
    rule === undefined
      ? []
      : REMEMBERS.map((remember): Row => ({
          label: `approve, and always allow ${permit?.rules.join(', ')} ${WHERE[remember]}`,
          choice: { to: 'answer', answer: { decision: 'approve', remember } },
        }))
  return [
    {
      label: 'approve',
      about: PENDING.approval.answers.approve.means,
      choice: { to: 'answer', answer: { decision: 'approve' } },
    },
    ...always,
    { label: 'edit', about: 'it runs with arguments that you change', choice: { to: 'edit' } },
    {
      label: 'deny',
      about: PENDING.approval.answers.deny.means,
      choice: { to: 'answer', answer: { decision: 'deny' } },
    },
    {
      label: 'deny, and say why',
      about: 'the model reads it',
      choice: { to: 'type', answer: { decision: 'deny' }, prompt: 'why', field: 'text' },
    },
  ]
}

function questionRows({ form = { hash: '' } }: InboxQuestion, chosen: readonly string[]): Row[] {
  const { options = [], multiSelect, schema } = form
  const offered = options.map(({ label, description }): Row => ({
    label: multiSelect ? `${chosen.includes(label) ? '☑' : '☐'} ${label}` : label,
    ...(description !== undefined && { about: description }),
    choice: multiSelect
      ? { to: 'toggle', option: label }
      : { to: 'answer', answer: { decision: 'answer', text: label } },
  }))
  const done: Row[] = multiSelect ? [{ label: 'send what is chosen', choice: { to: 'chosen' } }] : []
  const own: Row = schema
    ? {
        label: 'fill the form',
        about: 'as JSON',
        choice: { to: 'type', answer: { decision: 'answer' }, prompt: 'values (JSON)', field: 'values' },
      }
    : {
        label: 'type an answer',
        choice: { to: 'type', answer: { decision: 'answer' }, prompt: 'answer', field: 'text' },
      }
  const decline: Row = {
    label: 'decline',
    about: PENDING.question.answers.decline.means,
    choice: { to: 'answer', answer: { decision: 'decline' } },
  }
  return [...offered, ...done, own, decline]
}

function outcomeRows(): Row[] {
  const { done, not_done, retry } = PENDING.unknown_outcome.answers
  return [
    { label: 'done', about: done.means, choice: { to: 'answer', answer: { decision: 'done' } } },
    {
      label: 'done, and say what came of it',
      about: done.text ?? '',
      choice: { to: 'type', answer: { decision: 'done' }, prompt: 'result', field: 'text' },
    },
    { label: 'not done', about: not_done.means, choice: { to: 'answer', answer: { decision: 'not_done' } } },
    { label: 'retry', about: retry.means, choice: { to: 'answer', answer: { decision: 'retry' } } },
  ]
}
