/** The commands that talk to sessions. Each opens a client, does one thing, prints it. */
import { Option, type Command } from 'commander'
import type { CreateSessionOptions, ForkOptions } from '../../client/index.ts'
import { checkCreateSession, checkFork } from '../../client/options.ts'
import { addChatCommand } from './chat-command.ts'
import { addInboxCommands } from './inbox-commands.ts'
import { addPermissionsCommand } from './permissions-command.ts'
import { messageOf } from '../../core/errors.ts'
import { addBoundsCommand, takeBounds, withBounds } from './bounds-command.ts'
import { addMcpCommand } from './mcp-command.ts'
import { createOutput } from '../output/output.ts'
import { addRecoverCommand } from './recover-command.ts'
import { addLookingCommands } from './looking-commands.ts'
import { addReadingCommands } from './reading-commands.ts'
import { onOne, withLast, withSession } from '../sessions/session-argument.ts'
import { addWebCommand } from './web-command.ts'
import { addSignalCommands } from './signal-commands.ts'
import { noteUnserved } from '../sessions/unserved.ts'
import { loadDataConverter } from '../serve/load-data-converter.ts'
import { answer } from '../sessions/wait-for-answer.ts'
import { wholeNumber } from './whole-number.ts'
import type { Context, OnSession } from './command-context.ts'

type Options = Record<string, unknown>

export function addSessionCommands(program: Command): void {
  const on: OnSession =
    <Args extends unknown[]>(work: (context: Context, ...args: Args) => Promise<void>) =>
    async (...args: unknown[]): Promise<void> => {
      const out = createOutput(program.opts<{ json?: boolean }>().json === true)
      const { connectStello } = await import('../../client/connect.ts')
      const stello = await connectStello(await loadDataConverter())
      try {
        await work({ stello, out }, ...(args as Args))
      } finally {
        await stello.close()
      }
    }

  withBounds(program.command('start <agent-name>'))
    .description('create a session of an agent that a worker serves')
    .option('--label <label>', 'display name')
    .option('--profile <name>', 'fork profile the session begins with')
    .option('--system-prompt <text>', "system prompt, instead of the agent's")
    .option('--allowed-tools <names>', 'only these tools, separated by commas', names)
    .option('--disallowed-tools <names>', 'none of these tools, separated by commas', names)
    .option('--user-id <id>', 'the user of the session')
    .option('--id <session-id>', 'id of the session, instead of a new one')
    .option('--message <text>', 'first message')
    .option('--wait', 'wait for the answer to the first message')
    .hook('preAction', (command) => {
      const { wait, message } = command.opts<{ wait?: boolean; message?: string }>()
      if (wait && message === undefined) command.error('error: --wait needs --message, whose answer it waits for')
      refuseEarly(command, () => checkCreateSession(toSession(command.args[0], command.opts())))
    })
    .action(
      on(async ({ stello, out }, agent: string, options: Options) => {
        const { message, wait } = options as { message?: string; wait?: boolean }
        const session = await stello.createSession(toSession(agent, options))
        if (message === undefined) {
          out.result({ sessionId: session.id }, session.id)
          return noteUnserved({ stello, out }, agent)
        }
        out.note(`session ${session.id}`)
        await answer({ stello, out }, { session, turn: await session.send(message) }, { wait: wait === true })
      }),
    )

  withLast(program.command('send <session-id> <text>'))
    .description('send a message')
    .option('--message-id <id>', 'id of the message; the same id is taken only once')
    .option('--wait', 'wait for the answer and print it')
    .action(
      onOne(on)(async (context, session, ...said: [string, { messageId?: string; wait?: boolean }]) => {
        const [text, options] = said
        await answer(context, { session, turn: await session.send(text, options) }, options)
      }),
    )

  addChatCommand(program, on)
  addLookingCommands(program, on)
  addReadingCommands(program, on)
  addInboxCommands(program, on)
  addPermissionsCommand(program, on)

  addSignalCommands(program, on)
  addRecoverCommand(program, on)
  addBoundsCommand(program, on)
  addMcpCommand(program, on)
  addWebCommand(program, on)

  withSession(program.command('fork [session-id]'))
    .description('create a child session from the conversation so far')
    .requiredOption('--label <label>', 'display name')
    .option('--profile <name>', 'fork profile')
    .addOption(new Option('--context <context>').choices(['none', 'inherit']))
    .option('--prompt <text>', 'first message of the child, said by the assistant')
    .option('--before <record>', 'as if this record, and what follows, had not been said', wholeNumber)
    .option('--id <session-id>', 'id of the fork, instead of a new one; repeated, it gives the same fork')
    .hook('preAction', (command) => refuseEarly(command, () => checkFork(toFork(command.opts()))))
    .action(
      onOne(on)(async ({ out }, session, options: Options) => {
        const child = await session.fork(toFork(options))
        out.result({ sessionId: child.id, parentId: session.id }, child.id)
      }),
    )
}

/** The options of `start`, without `--json`, which belongs to the program. */
function toSession(agent: string | undefined, options: Options): CreateSessionOptions {
  const { id: sessionId, message: _sent, wait: _for, json: _form, ...others } = options
  const { bounds, rest } = takeBounds(others)
  return { ...rest, bounds, agent: agent ?? '', sessionId } as CreateSessionOptions
}

function toFork({ id: sessionId, json: _form, last: _named, ...request }: Options): ForkOptions {
  return { ...request, sessionId } as unknown as ForkOptions
}

/** Wrong usage is reported before the servers are looked for. */
function refuseEarly(command: Command, check: () => unknown): void {
  try {
    check()
  } catch (error) {
    command.error(`error: ${messageOf(error)}`)
  }
}

function names(value: string): string[] {
  return value.split(',').flatMap((name) => name.trim() || [])
}
