/** `stello chat`. The code that draws is loaded only when it draws. */
import type { Command } from 'commander'
import { StelloError } from '../../core/errors.ts'
import type { Context, OnSession } from './command-context.ts'
import { canAsk } from '../sessions/pick-session.ts'
import { answer } from '../sessions/wait-for-answer.ts'

export function addChatCommand(program: Command, on: OnSession): void {
  program
    .command('chat [agent-or-session]')
    .description('talk to an agent in the terminal: a new session of it, or one that is there')
    .option('--last', 'the newest session')
    .option('--pick', 'one of the latest sessions, which you choose')
    .hook('preAction', (command) => {
      if (program.opts<{ json?: boolean }>().json === true)
        command.error('error: a chat is for people; `stello watch SESSION --json` tells programs what happens')
    })
    .action(
      on(async (context: Context, named: string | undefined, choice: { last?: boolean; pick?: boolean }) => {
        const { stello, out } = context
        const { openChat } = await import('../chat/open-chat.ts')
        if (!canAsk()) {
          const text = await read(process.stdin)
          if (text === '') throw noMessage()
          const session = stello.session((await openChat(stello, named, choice)).sessionId)
          return answer(context, { session, turn: await session.send(text) }, { wait: true })
        }
        const opened = await openChat(stello, named, choice)
        const { runChat } = await import('../chat/run-chat.ts')
        const { sessionId, unsent } = await runChat(stello, opened.sessionId, opened)
        for (const message of unsent)
          out.noteOf(message, (shown) => `not sent to ${shown.sessionId}: the servers are away\n${shown.text}`)
        out.note(`the session goes on; \`stello chat ${sessionId}\` comes back to it`)
      }),
    )
}

function noMessage(): StelloError {
  return new StelloError('INVALID_ARGUMENT', 'there is no terminal, and no message on stdin', {
    hint: '`echo "…" | stello chat AGENT` sends one and prints the answer',
  })
}

async function read(input: NodeJS.ReadStream): Promise<string> {
  let text = ''
  for await (const piece of input.setEncoding('utf8')) text += piece as string
  return text.trim()
}
