/** `stello permissions`: the rules that people have added with their answers. */
import { Argument, type Command } from 'commander'
import type { KeptRule } from '../../client/index.ts'
import type { OnSession } from './command-context.ts'

export function addPermissionsCommand(program: Command, on: OnSession): void {
  const permissions = program
    .command('permissions')
    .description('show the rules that people have added with `approve`, for sessions, trees and agents')
    .action(
      on(async ({ stello, out }) => {
        for (const rule of await stello.permissions()) out.result(rule, lineOf)
      }),
    )
  permissions
    .command('remove')
    .description('remove such a rule: what it covered is asked about again')
    .addArgument(new Argument('<scope>').choices(['session', 'tree', 'agent']))
    .argument('<owner>', 'id of the session or of the root, or name of the agent')
    .argument('<rule>', 'as it is shown')
    .action(
      on(async ({ stello, out }, ...named: [KeptRule['scope'], string, string]) => {
        const [scope, owner, rule] = named
        await stello.removePermission({ scope, owner, rule })
        out.result({ scope, owner, rule }, `removed ${rule} of ${scope} ${owner}`)
      }),
    )
}

function lineOf({ scope, owner, rule, at }: KeptRule): string {
  return `${rule}  ${scope} ${owner}  (${at})`
}
