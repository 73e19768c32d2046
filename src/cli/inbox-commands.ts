/** The commands for everything that waits for a person. */
import { Argument, type Command } from 'commander'
import type { AnswerOptions } from '../client/index.ts'
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
    .addArgument(new Argument('<decision>', 'did it take effect, or shall it run again?').choices(DECISIONS))
    .argument('[result]', 'with done: what the model reads as the result')
    .action(
      on(async ({ stello, out }, id: string, item: string, decision: AnswerOptions['decision'], result?: string) => {
        await stello.session(id).answer(item, { decision, ...(result !== undefined && { result }) })
        out.result({ sessionId: id, id: item, decision }, `answered ${item} with ${decision}`)
      }),
    )
}

const DECISIONS: AnswerOptions['decision'][] = ['done', 'not_done', 'retry']
