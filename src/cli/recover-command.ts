/** The command for sessions whose workflow was terminated or lost. */
import type { Command } from 'commander'
import { isStelloError } from '../agent/errors.ts'
import type { RecoverOptions } from '../client/index.ts'
import { explain } from './output.ts'
import type { Context, OnSession } from './session-commands.ts'

const EVERY = 1_000_000

export function addRecoverCommand(program: Command, on: OnSession): void {
  program
    .command('recover [session-id]')
    .description('start a session again whose workflow was terminated or lost, from what the store holds')
    .option('--all', 'every session that is not closed')
    .option('--restart', 'also one that runs: it disagrees with the store since one of them was restored from a copy')
    .hook('preAction', (command) => {
      if ((command.args[0] === undefined) === !command.opts<{ all?: boolean }>().all)
        command.error('error: name one session, or use --all')
    })
    .action(
      on(async (context, id: string | undefined, options: RecoverOptions) => {
        if (id === undefined) return recoverAll(context, options)
        await recover(context, id, options)
      }),
    )
}

async function recover({ stello, out }: Context, sessionId: string, options: RecoverOptions): Promise<void> {
  const recovered = await stello.session(sessionId).recover(options)
  if (recovered.unsearchable) out.note(`${sessionId}: Temporal refuses its search attributes, it runs without`)
  const waiting = recovered.waiting > 0 ? `; ${recovered.waiting} messages waited` : ''
  out.result(
    { sessionId, ...recovered },
    `${sessionId} ${recovered.restarted ? `goes on from the store${waiting}` : 'runs, nothing was done'}`,
  )
}

/** Oldest first. One that cannot be recovered keeps none of the others waiting. */
async function recoverAll({ stello, out }: Context, options: RecoverOptions): Promise<void> {
  const open = (await stello.list({ limit: EVERY })).filter(({ state }) => state !== 'closed')
  for (const { id } of open.toReversed()) {
    try {
      await recover({ stello, out }, id, options)
    } catch (error) {
      if (isStelloError(error) && error.code === 'SESSION_CLOSED') continue
      process.exitCode = 1
      out.note(`${id} is not recovered\n${explain(error)}`)
    }
  }
}
