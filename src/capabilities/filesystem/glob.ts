/** Glob: files by the pattern of their path, the ones changed last first. */
import { lstat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { glob } from 'tinyglobby'
import { z } from 'zod'
import { createTool } from '../../agent/forms.ts'
import type { Tool, ToolContext } from '../../agent/tool.ts'
import { ignoredBy, ignoreFilesAbove } from './ignored.ts'
import { atPlace, type Place, type SandboxManager } from './locate.ts'
import { Refusal } from './refusal.ts'

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
const NEVER = ['**/.git/**', '**/node_modules/**', '**/.stello-*.tmp']
/** Files looked at side by side. */
const BATCH = 200

export function globTool(sandbox: SandboxManager): Tool {
  return createTool({
    name: 'Glob',
    kind: 'readonly',
    effect: 'pure',
    description: {
      short: 'Finds files by a glob pattern.',
      long: 'The ones changed last come first. What .gitignore names is left out, and so are .git and node_modules.',
    },
    aliases: { dir_path: 'path' },
    schema,
    execute: (args, ctx) => atPlace(sandbox, ctx, args.path ?? '.', (place) => find(place, args, ctx)),
  })
}

async function find(place: Place, args: Input, ctx: ToolContext): Promise<string> {
  if (!(await lstat(place.path)).isDirectory()) throw new Refusal(`${place.name} is no directory.`)
  const found = await search(place, args, AbortSignal.any([ctx.signal, AbortSignal.timeout(TIMEOUT_MS)]))
  ctx.signal.throwIfAborted()
  const shown = (await newestFirst(found)).slice(0, args.max_results ?? RESULTS)
  const names = shown.map((path) => relative(place.root, path).split(sep).join('/'))
  const more = found.length - shown.length
  if (names.length === 0) return 'No files found.'
  return [...names, more > 0 ? `(truncated, ${more} more)` : ''].filter(Boolean).join('\n')
}

async function search({ root, path: cwd }: Place, args: Input, signal: AbortSignal): Promise<string[]> {
  const pattern = args.pattern.replace(/^(?:\.\/)+/, '')
  if (/^\/|[{,(|]\/|\\|(?:^|[/{,(|])\.\.(?:$|[/},)|])/.test(pattern)) {
    throw new Refusal('The pattern must be relative to path, without "..", "\\" or a leading "/".')
  }
  const options = { cwd, dot: true, ignore: NEVER, followSymbolicLinks: false, expandDirectories: false, signal }
  try {
    const ignoreFiles = await glob('**/.gitignore', options)
    const paths = await glob(pattern, {
      ...options,
      // Nested quantifiers can take for ever to match.
      extglob: false,
      onlyFiles: args.include_directories !== true,
      caseSensitiveMatch: args.case_sensitive !== false,
    })
    const hidden = await ignoredBy([...ignoreFilesAbove(cwd, root), ...ignoreFiles.map((file) => join(cwd, file))])
    return paths.map((path) => join(cwd, path)).filter((path) => path.startsWith(cwd) && !hidden(path))
  } catch (error) {
    if (signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError') {
      throw new Refusal('The search took longer than 20 s: search a directory further down.')
    }
    throw error
  }
}

async function newestFirst(paths: readonly string[]): Promise<string[]> {
  const dated: { path: string; changed: number }[] = []
  for (let at = 0; at < paths.length; at += BATCH) {
    const batch = paths.slice(at, at + BATCH).map(async (path) => ({ path, changed: await changedAt(path) }))
    dated.push(...(await Promise.all(batch)))
  }
  return dated.toSorted((a, b) => b.changed - a.changed || (a.path < b.path ? -1 : 1)).map(({ path }) => path)
}

/** One that is gone by now comes last. */
async function changedAt(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined)
  return stats?.mtimeMs ?? 0
}
