/** The commands for everything that waits for a person. */
import { Argument, InvalidArgumentError, Option, type Command } from 'commander'
import { isObject } from '../../core/is-object.ts'
import { DECISIONS, PENDING_KINDS, decisionsOf, wordOf, type Decision } from '../../protocol/pending.ts'
import { REMEMBERS, type Remember } from '../../protocol/read-answer.ts'
import { inboxLines } from '../output/format.ts'
import type { OnSession } from './command-context.ts'
import { onOne, onOneOrAll, withLast } from '../sessions/session-argument.ts'

type Permitting = { args?: Readonly<Record<string, unknown>>; always?: Remember }
type Filled = { values?: Readonly<Record<string, unknown>> }

export function addInboxCommands(program: Command, on: OnSession): void {
  addPermissionCommands(program, on)
  withLast(program.command('inbox [session-id]'))
    .description('show what waits for a person: everywhere, or in a session and its forks')
    .action(
      onOneOrAll(on)(async ({ stello, out }, session) => {
        for (const item of await stello.inbox(session?.id)) out.result(item, inboxLines)
      }),
    )

  withLast(program.command('answer <session-id> <item-id>'))
    .description('answer something that waits; the inbox shows the ids')
    .addArgument(new Argument('<decision>', DECIDING).choices(DECISIONS))
    .argument('[text]', TEXT)
    .option('--values <json>', 'with answer: what fills the form of the question, as a JSON object', readObject)
    .action(
      onOne(on)(async ({ out }, session, ...said: [string, Decision, string | undefined, Filled]) => {
        const [item, decision, text, options] = said
        await session.answer(item, { decision, ...(text !== undefined && { text }), ...options })
        out.result({ sessionId: session.id, id: item, decision }, `answered ${item} with ${decision}`)
      }),
    )
}

function addPermissionCommands(program: Command, on: OnSession): void {
  withLast(program.command('approve <session-id> <item-id>'))
    .description('permit a call that waits for permission')
    .option('--args <json>', 'run it with these arguments, not with those of the model', readObject)
    .addOption(new Option('--always <where>', 'permit such calls from now on').choices(REMEMBERS))
    .action(
      onOne(on)(async ({ out }, session, ...said: [string, Permitting]) => {
        const [item, { args, always }] = said
        await session.approve(item, { ...(args && { args }), ...(always && { remember: always }) })
        out.result({ sessionId: session.id, id: item, decision: 'approve' }, `approved ${item}`)
      }),
    )

  withLast(program.command('deny <session-id> <item-id> [reason]'))
    .description('forbid a call that waits for permission; the model reads the reason')
    .action(
      onOne(on)(async ({ out }, session, ...said: [string, string | undefined]) => {
        const [item, reason] = said
        await session.deny(item, reason)
        out.result({ sessionId: session.id, id: item, decision: 'deny' }, `denied ${item}`)
      }),
    )
}

/** Made from the table, so that help names the decisions of each kind. */
const DECIDING = PENDING_KINDS.map((kind) => `${kind}: ${decisionsOf(kind).join(' | ')}`).join('; ')
const TEXT = PENDING_KINDS.flatMap((kind) =>
  decisionsOf(kind).flatMap((decision) => {
    const text = wordOf(kind, decision)?.text
    return text === undefined ? [] : [`with ${decision}: ${text}`]
  }),
).join('; ')

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const values: unknown = JSON.parse(text)
    if (isObject(values)) return values
  } catch {
    // Told below.
  }
  throw new InvalidArgumentError('It is not a JSON object, e.g. {"region": "eu"}.')
}
