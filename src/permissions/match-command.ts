/**
 * Matches one simple command of a shell. `npm test` is exactly this command; `git log:*`, or `git log *`, is every
 * command that begins with these words.
 */
import type { Touch } from '../tool/touch.ts'
import type { Doubt } from './part.ts'

const PREFIX = /(?::\*|\s+\*)$/
/** Programs that run the command which their arguments name. */
const WRAPPERS: ReadonlySet<string> = new Set(
  'builtin command doas env exec ionice nice nohup setsid stdbuf sudo time timeout xargs'.split(' '),
)

export function matchCommand(
  spec: string,
  { command, argv }: Pick<Extract<Touch, { kind: 'command' }>, 'command' | 'argv'>,
  doubt: Doubt,
): boolean {
  const all = PREFIX.test(spec) || spec === '*'
  const wanted = spec.replace(PREFIX, '').replace(/^\*$/, '').split(/\s+/).filter(Boolean)
  const exact = !all && command.trim() === spec
  return exact || (doubt === 'strict' ? [argv] : readings(argv)).some((words) => begins(words, wanted, all))
}

function begins(words: readonly string[], wanted: readonly string[], more: boolean): boolean {
  return (
    (more ? words.length >= wanted.length : words.length === wanted.length) &&
    wanted.every((word, index) => words[index] === word)
  )
}

/** The command, also without the folder of its program, and what a wrapper may run. */
function readings(argv: readonly string[]): string[][] {
  const name = nameOf(argv[0])
  const starts = WRAPPERS.has(name) ? argv.map((_, at) => at) : [0]
  return starts.flatMap((at) => [argv.slice(at), [nameOf(argv[at]), ...argv.slice(at + 1)]])
}

function nameOf(program = ''): string {
  return program.slice(program.lastIndexOf('/') + 1)
}
