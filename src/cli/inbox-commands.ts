/** The commands for everything that waits for a person. */
import { Argument, type Command } from 'commander'
import type { AnswerOptions } from '../client/index.ts'
import { DECISIONS, PENDING_KINDS, decisionsOf, wordOf } from '../protocol/pending.ts'
import { inboxLines } from './format.ts'
import type { OnSession } from './command-context.ts'

export function addInboxCommands(program: Command, on: OnSession): void {
  program
    .command('inbox [session-id]')
    .description('show what waits for a person: everywhere, or in a session and its forks')
    .action(
      on(async ({ stello, out }, id: string | undefined) => {
        for (const item of await stello.inbox(id)) out.result(item, inboxLines)
      }),
    )

  program
    .command('answer <session-id> <item-id>')
    .description('answer something that waits; the inbox shows the ids')
    .addArgument(new Argument('<decision>', DECIDING).choices(DECISIONS))
    .argument('[text]', TEXT)
    .action(
      on(async ({ stello, out }, id: string, item: string, decision: AnswerOptions['decision'], text?: string) => {
        await stello.session(id).answer(item, { decision, ...(text !== undefined && { text }) })
        out.result({ sessionId: id, id: item, decision }, `answered ${item} with ${decision}`)
      }),
    )
}

/** From the table, so that help names what can be said to what. */
const DECIDING = PENDING_KINDS.map((kind) => `${kind}: ${decisionsOf(kind).join(' | ')}`).join('; ')
const TEXT = PENDING_KINDS.flatMap((kind) =>
  decisionsOf(kind).flatMap((decision) => {
    const text = wordOf(kind, decision)?.text
    return text === undefined ? [] : [`with ${decision}: ${text}`]
  }),
).join('; ')
