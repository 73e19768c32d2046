/** The commands that pause a session or its tree, resume it, cancel its turn, or close it. */
import type { Command } from 'commander'
import type { Reached, SessionHandle } from '../../client/index.ts'
import { inboxLines } from '../output/format.ts'
import { onOne, onOneOrAll, withSession } from '../sessions/session-argument.ts'
import { onSelected, withSelection, type Selection } from './selection.ts'
import type { Context, OnSession } from './command-context.ts'

interface Options extends Omit<Selection, 'reason'> {
  reason?: string
  tree?: boolean
  cascade?: boolean
}

export function addSignalCommands(program: Command, on: OnSession): void {
  const signal = (
    { name, description, many }: { name: string; description: string; many?: true },
    send: (session: SessionHandle, options: Options) => Promise<Reached | void>,
  ): Command => {
    const sendTo = async (context: Context, session: SessionHandle, options: Options): Promise<void> => {
      const { id } = session
      const request = { sessionId: id, sent: name }
      const reached = await send(session, options)
      if (options.tree && reached) tellReached(context, request, reached)
      else context.out.result(request, `${name} sent to ${id}`)
      if (name === 'resume' && !options.tree) await tellHoldups(context, session)
    }
    const command = program.command(`${name} [session-id]`).description(description)
    if (!many) return withSession(command).action(onOne(on)(sendTo))
    return command.action(
      onOneOrAll(on)(async (context, one, options: Options) => {
        if (one) return sendTo(context, one, options)
        const { state = 'paused', ...selection } = options as Selection
        await onSelected(context, { ...selection, state }, ({ id }) =>
          sendTo(context, context.stello.session(id), options),
        )
      }),
    )
  }
  const tree = (command: Command): Command =>
    command.option('--tree', 'also all its forks, and forks that are being created at that moment')

  tree(
    signal({ name: 'pause', description: 'nothing new starts until resume' }, (session, { reason, tree = false }) =>
      session.pause({ tree, ...(reason !== undefined && { reason }) }),
    ),
  ).option('--reason <text>', 'shown to people')
  const resume = signal(
    { name: 'resume', description: 'go on after a pause, with the very step that was due', many: true },
    (session, { tree = false }) => session.resume({ tree }),
  )
  withSelection(tree(resume), 'every session that is paused')
  tree(
    signal(
      { name: 'cancel', description: 'stop the turn under way; the session stays open' },
      (session, { tree = false }) => session.cancelTurn({ tree }),
    ),
  )
  signal({ name: 'compact', description: 'summarise older messages for the model; the records stay' }, (session) =>
    session.compact(),
  )
  signal({ name: 'close', description: 'end the session' }, (session, { cascade = false }) =>
    session.close({ cascade }),
  ).option('--cascade', 'end its forks too')
}

function tellReached(
  { out }: Context,
  { sessionId, sent }: { sessionId: string; sent: string },
  { sessions, lost }: Reached,
): void {
  const count = sessions === 1 ? '1 session' : `${sessions} sessions`
  out.result({ sessionId, sent, sessions, lost }, `${sent} sent to ${count} in the tree of ${sessionId}`)
  for (const gone of lost) out.note(`${gone} has no workflow any more: \`stello recover ${gone}\` starts it again`)
}

/** A resume does not help a session that only waits for one below. */
async function tellHoldups({ out }: Context, session: SessionHandle): Promise<void> {
  const { heldBy, id } = await session.state()
  for (const item of heldBy) out.noteOf(item, (shown) => `${id} waits for ${shown.sessionId}\n${inboxLines(shown)}`)
  if (heldBy.length > 0) out.note(`\`stello resume ${id} --tree\` resumes all below it`)
}
