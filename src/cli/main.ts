#!/usr/bin/env node
/**
 * The `stello` command. Exit code 0 = done, 1 = the thing failed, 2 = wrong usage. Nothing heavy may be imported
 * statically here or in the files of commands: `--help` and a mistyped command answer at once.
 */
import { readFileSync } from 'node:fs'
import { CommanderError, Command } from 'commander'
import { checkNodeVersion } from '../worker/node-version.ts'
import { addCompletionCommands } from './commands/completion-command.ts'
import { addDevCommands } from './commands/dev-command.ts'
import { addRunCommands } from './commands/run-commands.ts'
import { withExample } from './commands/help-examples.ts'
import { TERMINAL_GONE } from './interrupted.ts'
import { explain } from './output/output.ts'
import { addSessionCommands } from './commands/session-commands.ts'

const USAGE = 2

async function main(argv: string[]): Promise<void> {
  checkNodeVersion()
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const program = new Command('stello')
    .description('Durable agent sessions on Temporal')
    .version(version)
    .option('--json', 'one JSON object per line on stdout, everything else on stderr')
    .showHelpAfterError('(stello --help shows all commands)')
    .exitOverride()
  addDevCommands(program)
  addRunCommands(program)
  addSessionCommands(program)
  addCompletionCommands(program)
  for (const command of program.commands)
    withExample(command)
      .exitOverride()
      .option('--json', 'JSON output')
      .on('option:json', () => program.setOptionValue('json', true))
  await program.parseAsync(argv)
}

// `stello list | head -1` closes the pipe early. That is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== TERMINAL_GONE) process.exit(error.code === 'EPIPE' ? 0 : 1)
})

try {
  await main(process.argv)
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE
  else {
    process.stderr.write(`${explain(error)}\n`)
    process.exitCode = 1
  }
}
// An agent module may have its own timers and connections. They must not keep an ended command alive.
process.stdout.write('', () => process.exit())
