/** The command for sessions whose workflow was terminated or lost. */
import type { Command } from 'commander'
import type { RecoverOptions, SessionHandle } from '../../client/index.ts'
import { onOneOrAll } from '../sessions/session-argument.ts'
import { onSelected, withSelection, type Selection } from './selection.ts'
import type { Context, OnSession } from './command-context.ts'

export function addRecoverCommand(program: Command, on: OnSession): void {
  withSelection(program.command('recover [session-id]'), 'every session that is not closed')
    .description('start a session again whose workflow was terminated or lost, from what the store holds')
    .option(
      '--restart',
      'also one that runs: it disagrees with the store since one of them was restored from a copy; with --all only where that shows',
    )
    .action(
      onOneOrAll(on)(async (context, one, { restart = false, ...selection }: Selection & { restart?: boolean }) => {
        if (one) return recover(context, one, { restart })
        await onSelected(context, selection, (session) =>
          recover(context, context.stello.session(session.id), { restart: restart && 'needed' }),
        )
      }),
    )
}

async function recover({ out }: Context, session: SessionHandle, options: RecoverOptions): Promise<void> {
  const { id: sessionId } = session
  const recovered = await session.recover(options)
  if (recovered.unsearchable) out.note(`${sessionId}: Temporal refuses its search attributes, it runs without`)
  const waiting = recovered.waiting > 0 ? `; ${recovered.waiting} messages waited` : ''
  out.result(
    { sessionId, ...recovered },
    `${sessionId} ${recovered.restarted ? `goes on from the store${waiting}` : 'runs, nothing was done'}`,
  )
}
