/** Grep: searches the contents of files with ripgrep. Protected files are searched too, but nothing of them is shown. */
import { lstat, type FileHandle } from 'node:fs/promises'
import { isBinaryFile } from 'isbinaryfile'
import { join } from 'node:path'
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import { atPlace, type Place, type SandboxManager } from './locate.ts'
import { withFile } from './open-file.ts'
import { inFolder } from './open-folder.ts'
import { protectedBy } from './protected.ts'
import { Refusal } from './refusal.ts'
import { ripgrep, type Search } from './ripgrep.ts'
import { touched } from './touched.ts'

const text = z.string().regex(/^[^\0]*$/, 'must not hold a null character')
const lines = z.number().int().min(0).max(1000).optional()
const schema = z.object({
  pattern: text.min(1).max(5000).describe('A regular expression as ripgrep takes it'),
  path: z.string().optional().describe('The file or directory to search; default the working directory'),
  glob: text.max(500).optional().describe('Only files with such names, for example *.{ts,tsx}'),
  type: text.max(50).optional().describe('Only files of a language, as ripgrep calls it: js, py, rust'),
  output_mode: z.enum(['content', 'files_with_matches', 'count']).optional().describe('Default files_with_matches'),
  '-A': lines.describe('Lines to show behind each match'),
  '-B': lines.describe('Lines to show before each match'),
  '-C': lines.describe('Lines to show around each match'),
  context: lines.describe('The same as -C'),
  '-n': z.boolean().optional().describe('Show numbers of lines; default true'),
  '-i': z.boolean().optional().describe('Upper and lower case are the same'),
  '-o': z.boolean().optional().describe('Show only what matches'),
  multiline: z.boolean().optional().describe('A match may go over lines, and . stands for a line end too'),
  head_limit: z.number().int().min(0).optional().describe('How many entries to show; default 250, 0 = all'),
  offset: z.number().int().min(0).optional().describe('How many entries to leave out at the beginning'),
})
type Input = z.output<typeof schema>

const ENTRIES = 250
/** Longest result, in UTF-16 units: less than a model reads of any result. */
const TOTAL_LIMIT = 48 * 1024
const HEAD = 4096

export function grepTool(sandbox: SandboxManager): Tool {
  return createTool({
    name: 'Grep',
    kind: 'readonly',
    effect: 'pure',
    runsIn: 'workspace',
    description: {
      short: 'Searches the contents of files for a regular expression.',
      long: 'What .gitignore names is left out, and so are .git and node_modules.',
      usageNotes: ['output_mode content shows the lines, count how many match in each file'],
    },
    aliases: { dir_path: 'path' },
    schema,
    touches: ({ path = '.' }, ctx) => touched(sandbox, { session: ctx, given: path }, ['read']),
    execute: (args, ctx) =>
      atPlace(sandbox, { session: ctx, given: args.path ?? '.' }, (place) => {
        const isProtected = protectedBy(sandbox.protect)
        const hidden = (name: string): boolean =>
          isProtected(name) || !(ctx.mayRead?.(join(place.root, name), place.root) ?? true)
        return grep({ ...place, hidden }, args, ctx)
      }),
  })
}

type Searched = Place & { hidden: (name: string) => boolean }

async function grep(place: Searched, args: Input, { signal }: ToolContext) {
  const { hidden } = place
  const found = new Entries(args)
  const separator = args.output_mode === 'content' || args.output_mode === 'count' ? '\n' : '\0'
  const search = { args: argumentsOf(args), signal, separator } as const
  if ((await lstat(place.path)).isDirectory()) {
    const below = place.name === '.' ? '' : `${place.name}/`
    const nameOf = (path: string): string => below + path.replace(/^\.\//, '')
    const take = (piece: string): boolean => found.take(piece, nameOf, hidden)
    await inFolder(place, (cwd) => ripgrep({ ...search, cwd, take }))
  } else {
    // A link could stand under its name by now, so the program gets the opened file.
    const take: Search['take'] = (piece) => found.take(piece, () => place.name, hidden)
    await withFile(place, async (file) => {
      await refuseBinary(file, place.name)
      await ripgrep({ ...search, cwd: place.root, file: file.fd, take })
    })
  }
  return found.text()
}

/** In a directory, ripgrep leaves out binary files by itself. In a binary file that is named, it would search gigabytes. */
async function refuseBinary(file: FileHandle, name: string): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0)
  if (await isBinaryFile(buffer, bytesRead)) throw new Refusal(`${name} is a binary file; it cannot be searched.`)
}

function argumentsOf(args: Input): string[] {
  const mode = args.output_mode ?? 'files_with_matches'
  const around = args['-C'] ?? args.context
  const count = (flag: string, value: number | undefined): string[] => (value === undefined ? [] : [`${flag}=${value}`])
  const content = [
    args['-n'] === false ? '--no-line-number' : '--line-number',
    ...count('--context', around),
    ...count('--after-context', args['-A']),
    ...count('--before-context', args['-B']),
    ...(args['-o'] ? ['--only-matching'] : []),
  ]
  return [
    ...(mode === 'content' ? content : [mode === 'count' ? '--count' : '--files-with-matches']),
    ...(args['-i'] ? ['--ignore-case'] : []),
    ...(args.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(args.type ? [`--type=${args.type}`] : []),
    ...[args.glob, '!.git', '!node_modules', '!.stello-*.tmp'].flatMap((glob) => (glob ? [`--glob=${glob}`] : [])),
    '-e',
    args.pattern,
    '--',
  ]
}

/** Between groups of lines that are not next to each other. */
const GAP = '--'

/** The shown part: the entries from `offset` on, as many as are wanted and fit into a result. */
class Entries {
  readonly #first: number
  readonly #limit: number
  readonly #shown: string[] = []
  #seen = 0
  #left = TOTAL_LIMIT
  #more = false

  constructor({ offset = 0, head_limit = ENTRIES }: Input) {
    this.#first = offset
    this.#limit = head_limit === 0 ? Infinity : head_limit
  }

  /** @returns whether there is room for more */
  take(piece: string, nameOf: (path: string) => string, hidden: (name: string) => boolean): boolean {
    const end = piece.indexOf('\0')
    const isGap = end < 0 && piece === GAP
    if (isGap && this.#shown.at(-1) === GAP) return true
    const name = nameOf(end < 0 ? piece : piece.slice(0, end))
    if (!isGap && hidden(name)) return true
    if (++this.#seen <= this.#first) return true
    const entry = isGap ? GAP : end < 0 ? name : `${name}:${piece.slice(end + 1)}`
    this.#left -= entry.length + 1
    this.#more = this.#shown.length >= this.#limit || this.#left < 0
    if (!this.#more) this.#shown.push(entry)
    return !this.#more
  }

  text(): string {
    if (this.#shown.length === 0) return this.#seen === 0 ? 'No matches found' : 'No more matches'
    const more = this.#more ? [`(there are more: use offset=${this.#first + this.#shown.length})`] : []
    return [...this.#shown, ...more].join('\n')
  }
}
