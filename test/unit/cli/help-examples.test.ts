/** The examples that `--help` shows can be typed. */
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { addCompletionCommands } from '../../../src/cli/commands/completion-command.ts'
import { addDevCommands } from '../../../src/cli/commands/dev-command.ts'
import { HELP_EXAMPLES } from '../../../src/cli/commands/help-examples.ts'
import { addRunCommands } from '../../../src/cli/commands/run-commands.ts'
import { addSessionCommands } from '../../../src/cli/commands/session-commands.ts'

const program = new Command('stello')
addDevCommands(program)
addRunCommands(program)
addSessionCommands(program)
addCompletionCommands(program)

it.each(Object.entries(HELP_EXAMPLES))('%s: %s', (name, example) => {
  const command = program.commands.find((one) => one.name() === name)
  expect(example).toContain(`stello ${name}`)
  const options = Array.from(example.matchAll(/ (--[a-z-]+)/g), ([, option]) => option)
  expect(command?.options.map(({ long }) => long)).toEqual(expect.arrayContaining(options))
})
