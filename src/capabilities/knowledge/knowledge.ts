/** The pack of knowledge: a folder of documents that a model searches and reads. */
import { isAbsolute } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { toMs, type Duration } from '../../core/duration.ts'
import { StelloError, messageOf } from '../../core/errors.ts'
import { createTool } from '../../tool/compat.ts'
import type { Tool } from '../../tool/tool.ts'
import { KnowledgeIndex, type Indexed } from './knowledge-index.ts'

/** Options of `knowledge`. */
export interface KnowledgeOptions {
  /** The folder of the documents, an absolute path. */
  folder: string
  /** `postgresql://…`. Default: the environment variable `STELLO_DATABASE_URL`. */
  connectionString?: string
  /** The name under which the folder is indexed: two workers with the same name must have the same documents. Default: the folder. */
  collection?: string
  /** The language of the documents, as PostgreSQL names it. Default `english`; `simple` for all languages. */
  language?: string
  /** Which files are documents. Default: texts (`md`, `txt`, `rst` …). */
  extensions?: readonly string[]
  /** How often the folder is looked at for changes. Default 5 minutes. */
  refreshEvery?: Duration
}

/** The pack, and a way to index at once. */
export interface KnowledgePack extends CapabilityPack {
  /** KnowledgeSearch and KnowledgeRead. */
  tools: readonly Tool[]
  /** Brings the index up to date, and says what has changed. */
  index(): Promise<Indexed>
}

const EXTENSIONS: readonly string[] = [
  'md',
  'mdx',
  'markdown',
  'txt',
  'text',
  'rst',
  'adoc',
  'org',
  'tex',
  'csv',
  'tsv',
]
const HITS = 8
const LINES = 400
/** A worker that starts waits for the index no longer than this. */
const READY_WITHIN_MS = 20_000

/**
 * The tools KnowledgeSearch and KnowledgeRead over a folder of documents, which each worker indexes before it asks for
 * work, and again when documents have changed.
 *
 * @throws StelloError INVALID_ARGUMENT naming the option that is wrong
 * @example
 * defineProfile({
 *   id: 'helper', agent: { model: 'anthropic:claude-sonnet-5' },
 *   capabilities: [knowledge({ folder: '/srv/handbook' })],
 * })
 */
export function knowledge(options: KnowledgeOptions): KnowledgePack {
  const {
    folder,
    collection = folder,
    language = 'english',
    extensions = EXTENSIONS,
    refreshEvery = '5 minutes',
  } = options
  if (!isAbsolute(folder)) throw invalid(`folder "${folder}" is no absolute path`)
  const wrong = extensions.find((extension) => !/^[a-z0-9]{1,20}$/i.test(extension))
  if (wrong !== undefined) throw invalid(`extension "${wrong}" is not allowed: write it as 'md'`)
  const everyMs = toMs(refreshEvery, 'knowledge: refreshEvery')
  const { connectionString } = options
  const index = new KnowledgeIndex({
    folder,
    collection,
    language,
    extensions,
    ...(connectionString && { connectionString }),
  })
  let stale: string | undefined
  let timer: NodeJS.Timeout | undefined
  const refresh = (): void =>
    void index.update().then(
      () => (stale = undefined),
      (error: unknown) => (stale = messageOf(error)),
    )
  const noted = (text: string): string =>
    stale === undefined ? text : `${text}\n[the index is not up to date: ${stale}]`
  return {
    name: 'knowledge',
    index: () => index.update(),
    async open() {
      stale = 'it is being made'
      const first = index.update().then(() => (stale = undefined))
      // The indexing of a large folder goes on while the worker works.
      const waited = new AbortController()
      await Promise.race([first, delay(READY_WITHIN_MS, undefined, { signal: waited.signal })]).finally(() =>
        waited.abort(),
      )
      first.catch((error: unknown) => (stale = messageOf(error)))
      timer = setInterval(refresh, everyMs)
      timer.unref()
    },
    async close() {
      clearInterval(timer)
      await index.close()
    },
    tools: [searchTool(index, noted), readTool(index, noted)],
  }
}

type Noted = (text: string) => string

function searchTool(index: KnowledgeIndex, noted: Noted): Tool {
  return createTool({
    name: 'KnowledgeSearch',
    kind: 'readonly',
    effect: 'pure',
    description: {
      short: 'Searches the documents for words, and shows the passages that fit best.',
      usageNotes: ['"a phrase" in quotes, -word to leave out; KnowledgeRead reads on from the line of a passage'],
    },
    schema: z.object({
      query: z.string().min(1).max(1000),
      max_results: z.number().int().min(1).max(30).optional().describe(`Default ${HITS}`),
    }),
    async execute({ query, max_results = HITS }) {
      const hits = await index.search(query, max_results)
      if (hits.length === 0) return noted('No document has any of these words.')
      return noted(hits.map(({ path, line, snippet }) => `${path}:${line}\n${snippet.trim()}`).join('\n\n'))
    },
  })
}

function readTool(index: KnowledgeIndex, noted: Noted): Tool {
  return createTool({
    name: 'KnowledgeRead',
    kind: 'readonly',
    effect: 'pure',
    description: { short: 'Reads a document that KnowledgeSearch has found.' },
    aliases: { file_path: 'path', document: 'path' },
    schema: z.object({
      path: z.string().min(1).max(1000).describe('As KnowledgeSearch names it'),
      offset: z.number().int().min(1).optional().describe('First line, from 1'),
      limit: z.number().int().min(1).max(2000).optional().describe(`How many lines; default ${LINES}`),
    }),
    async execute({ path, offset = 1, limit = LINES }) {
      const text = await index.read(path)
      if (text === undefined) return { success: false, error: `There is no document "${path}": search for it first.` }
      const lines = text.split('\n')
      if (offset > lines.length) return { success: false, error: `"${path}" has ${lines.length} lines.` }
      const shown = lines.slice(offset - 1, offset - 1 + limit)
      const last = offset - 1 + shown.length
      const more =
        last < lines.length ? `\n[lines ${offset}-${last} of ${lines.length}: go on with offset ${last + 1}]` : ''
      return noted(`${shown.join('\n')}${more}`)
    },
  })
}

function invalid(problem: string): StelloError {
  return new StelloError('INVALID_ARGUMENT', `knowledge: ${problem}`)
}
