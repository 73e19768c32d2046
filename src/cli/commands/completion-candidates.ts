/** The candidates for the last word of a command line. They come from the declared commands; this file lists none itself. */
import type { Argument, Command, Option } from 'commander'

/** Names that only the servers know. */
export type Named = 'agent' | 'session'

/** The declared names of arguments that name something on the servers. */
const NAMED: Readonly<Record<string, Named>> = { 'agent-name': 'agent', 'session-id': 'session' }
const NAMING_OPTIONS: Readonly<Record<string, Named>> = { '--agent': 'agent', '--tree': 'session' }

/**
 * @param words of the line behind the program's name; the last one is being typed and may be empty
 * @param named asks the servers
 * @returns all candidates that begin with the last word; none: it is a file, or nobody knows
 */
export async function candidates(
  program: Command,
  words: readonly string[],
  named: (kind: Named) => Promise<string[]>,
): Promise<string[]> {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const begins = (all: readonly string[]): string[] => all.filter((one) => one.startsWith(typed))
  const at = before.findIndex((word) => !word.startsWith('-'))
  const command = program.commands.find((one) => one.name() === before[at])
  if (!command) return at === -1 ? begins(typed.startsWith('-') ? longOf(program) : namesOf(program)) : []
  const given = before.slice(at + 1)
  const option = optionOf(command, given.at(-1))
  if (option && (option.required || option.optional)) {
    const kind = NAMING_OPTIONS[option.long ?? '']
    return begins(kind ? await named(kind) : (option.argChoices ?? []))
  }
  if (typed.startsWith('-')) return begins(longOf(command))
  const argument = argumentAt(command, given)
  if (!argument) return begins(namesOf(command))
  const kind = NAMED[argument.name()]
  return begins(kind ? await named(kind) : [...namesOf(command), ...(argument.argChoices ?? [])])
}

/** The argument that comes next: options and their values stand between arguments, and `--last` is a session. */
function argumentAt(command: Command, given: readonly string[]): Argument | undefined {
  const values = given.filter((word, index) => {
    const valued = optionOf(command, given[index - 1])
    return !word.startsWith('-') && !(valued && (valued.required || valued.optional))
  })
  const place = values.length + (given.includes('--last') ? 1 : 0)
  const last = command.registeredArguments.at(-1)
  return command.registeredArguments[place] ?? (last?.variadic ? last : undefined)
}

function optionOf(command: Command, word: string | undefined): Option | undefined {
  return word === undefined ? undefined : command.options.find((one) => one.long === word || one.short === word)
}

function longOf(command: Command): string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), '--help']
}

function namesOf(command: Command): string[] {
  return command.commands.map((one) => one.name())
}
