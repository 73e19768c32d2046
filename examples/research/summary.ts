/** What the demo prints at its end. */
import { relative } from 'node:path'
import type { SessionHandle } from '../../src/client/index.ts'
import { STELLO } from './job.ts'

export type Tree = Awaited<ReturnType<SessionHandle['tree']>>

export interface Summary {
  question: string
  report: string
  docs: string
  sessions: number
  modelCalls: number
  /** Calls that were made again although their ledger row was finished. */
  repeatedModelCalls: number
  /** Calls that were under way when the worker was killed, and were made again. */
  retriedInFlight: number
  /** Calls that the provider refused for the moment, and that were made again. */
  refusedByProvider: number
  toolCalls: number
  inputTokens: number
  outputTokens: number
  quotations: number
  verified: boolean
  /** Unset if the server has stopped when somebody reads this. */
  temporalUi?: string
  model: string
}

export function idsOf(tree: Tree): string[] {
  return [tree.id, ...tree.children.flatMap(idsOf)]
}

/** The model calls that are under way anywhere in the tree. */
export function inHand(tree: Tree): number {
  return (
    tree.inHand.filter((step) => step.kind === 'model').length +
    tree.children.reduce((sum, child) => sum + inHand(child), 0)
  )
}

export function print(summary: Summary, tree: string[], sessionId: string): void {
  const { verified, quotations, refusedByProvider, temporalUi } = summary
  const check = verified
    ? `every quotation (${quotations}) stands literally where its source says`
    : `not every quotation could be verified (${quotations} checked)`
  const refused = refusedByProvider === 0 ? '' : `, ${refusedByProvider} refused by the provider and made again`
  process.stdout.write(
    `${[
      '',
      ...tree,
      '',
      `${verified ? '✓' : '✗'} ${check}`,
      `Report       ${relative('.', summary.report) || summary.report}`,
      `Sessions     ${summary.sessions}`,
      `Model calls  ${summary.modelCalls} finished, ${summary.repeatedModelCalls} of them repeated, ${summary.retriedInFlight} retried that a crash cut off${refused}`,
      `Tool calls   ${summary.toolCalls}`,
      `Tokens       ${summary.inputTokens} in, ${summary.outputTokens} out (${summary.model})`,
      ...(temporalUi === undefined ? [] : [`Temporal UI  ${temporalUi}`]),
      '',
      'Next:',
      '  npm run demo -- --crash                   kill the worker in the middle; the result is the same',
      '  npm run demo -- "your question" --docs .  another question, other documents',
      ...(temporalUi === undefined
        ? [`  ${STELLO} transcript ${sessionId}   what was said (while \`${STELLO} server\` runs)`]
        : [`  ${STELLO} send ${sessionId} "…" --wait   ask the session more, in another terminal`]),
      '  rm -r .stello                             forget everything',
      '',
    ].join('\n')}\n`,
  )
}
