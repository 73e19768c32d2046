/** The session that a command works on: an id, the beginning of one, a label, `--last`, or a choice at the terminal. */
import type { Argument, Command } from 'commander'
import type { SessionHandle } from '../../client/index.ts'
import type { Context, OnSession } from '../commands/command-context.ts'
import { findSession } from './find-session.ts'
import { canAsk, unnamed } from './pick-session.ts'

interface Naming {
  last?: boolean
  json?: boolean
}

type Work<Session, Args extends unknown[]> = (context: Context, session: Session, ...args: Args) => Promise<void>

/** An action on one session, which has been found already. @param on opens the client */
export const onOne =
  (on: OnSession) =>
  <Args extends unknown[]>(work: Work<SessionHandle, Args>): ((...args: unknown[]) => Promise<void>) =>
    on(async (context, ...given: unknown[]) => {
      const { text, last, rest } = untie(given)
      await work(context, await findSession(context.stello, text, { last }), ...(rest as Args))
    })

/** The same for a command whose session may be left out: it means all of them then. */
export const onOneOrAll =
  (on: OnSession) =>
  <Args extends unknown[]>(work: Work<SessionHandle | undefined, Args>): ((...args: unknown[]) => Promise<void>) =>
    on(async (context, ...given: unknown[]) => {
      const { text, last, rest } = untie(given)
      const named = text !== undefined || last
      await work(context, named ? await findSession(context.stello, text, { last }) : undefined, ...(rest as Args))
    })

/** The parameters of an action: its arguments, the first of which is the session unless `--last` is given; the options; the command. */
function untie(given: unknown[]): { text: string | undefined; last: boolean; rest: unknown[] } {
  const { last = false, ...options } = given.at(-2) as Naming
  const [text, ...others] = last ? [undefined, ...given.slice(0, -2)] : given.slice(0, -2)
  return { text: text as string | undefined, last, rest: [...others, options, given.at(-1)] }
}

/** Adds `--last` to a command whose first argument is a session. With it, that argument is not given. */
export function withLast(command: Command): Command {
  let taken = false
  return command.option('--last', 'the newest session that is no fork, instead of an id').on('option:last', () => {
    // The arguments are read after the options, wherever the options stand.
    if (!taken) (command.registeredArguments as Argument[]).shift()
    taken = true
  })
}

/** The same for a command that works on exactly one session. Without a name, a person at a terminal chooses. */
export function withSession(command: Command): Command {
  return withLast(command).hook('preAction', (naming) => {
    const { last = false, json = false } = naming.optsWithGlobals<Naming>()
    if (last || naming.args[0] !== undefined || (canAsk() && !json)) return
    const { message, hint } = unnamed()
    naming.error(`error: ${message}: ${hint}`)
  })
}
