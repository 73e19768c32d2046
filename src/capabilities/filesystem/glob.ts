/** Glob: finds files by a pattern of their path, the last changed first. */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import { inThread, ThreadEnded } from '../thread/in-thread.ts'
import { atPlace, type Place, type SandboxManager } from './locate.ts'
import { Refusal } from './refusal.ts'
import type { FileSearch, FoundFiles } from './search-files.ts'
import { touched } from './touched.ts'

const schema = z.object({
  pattern: z.string().min(1).max(500).describe('For example **/*.ts or src/*.{js,css}'),
  path: z.string().optional().describe('The directory to search; default the working directory'),
  max_results: z.number().int().min(1).max(1000).optional().describe('Default 100'),
  include_directories: z.boolean().optional(),
  case_sensitive: z.boolean().optional().describe('Default true'),
})
type Input = z.output<typeof schema>

const RESULTS = 100
const TIMEOUT_MS = 20_000
const ENDED = {
  time: 'The search took longer than 20 s: use fewer "*" in the pattern, or search a directory further down.',
  memory: 'The search found too much: search a directory further down.',
}

export function globTool(sandbox: SandboxManager): Tool {
  return createTool({
    name: 'Glob',
    kind: 'readonly',
    effect: 'pure',
    runsIn: 'workspace',
    description: {
      short: 'Finds files by a glob pattern.',
      long: 'The ones changed last come first. What .gitignore names is left out, and so are .git and node_modules.',
    },
    aliases: { dir_path: 'path' },
    schema,
    touches: ({ path = '.' }, ctx) => touched(sandbox, { session: ctx, given: path }, ['read']),
    execute: (args, ctx) =>
      atPlace(sandbox, { session: ctx, given: args.path ?? '.' }, (place) =>
        find({ ...place, protect: sandbox.protect }, args, ctx),
      ),
  })
}

type Searched = Place & Pick<FileSearch, 'protect'>

async function find(place: Searched, args: Input, ctx: ToolContext): Promise<string> {
  if (!(await lstat(place.path)).isDirectory()) throw new Refusal(`${place.name} is no directory.`)
  const found = await search(place, args, ctx.signal)
  const { more } = found
  const names = found.names.filter((name) => ctx.mayRead?.(join(place.root, name), place.root) ?? true)
  if (names.length === 0) return 'No files found.'
  return [...names, more > 0 ? `(truncated, ${more} more)` : ''].filter(Boolean).join('\n')
}

async function search({ root, path: cwd, protect }: Searched, args: Input, signal: AbortSignal): Promise<FoundFiles> {
  const pattern = args.pattern.replace(/^(?:\.\/)+/, '')
  if (/^\/|[{,(|]\/|\\|(?:^|[/{,(|])\.\.(?:$|[/},)|])/.test(pattern)) {
    throw new Refusal('The pattern must be relative to path, without "..", "\\" or a leading "/".')
  }
  const searched: FileSearch = {
    root,
    cwd,
    pattern,
    protect,
    directories: args.include_directories === true,
    caseSensitive: args.case_sensitive !== false,
    limit: args.max_results ?? RESULTS,
  }
  try {
    return await inThread<FoundFiles>(new URL('./search-files.ts', import.meta.url), searched, {
      timeoutMs: TIMEOUT_MS,
      signal,
    })
  } catch (error) {
    if (error instanceof ThreadEnded) throw new Refusal(ENDED[error.why])
    throw error
  }
}
