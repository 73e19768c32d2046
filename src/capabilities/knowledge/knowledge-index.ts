/**
 * The index of a folder in PostgreSQL, in the schema `stello_knowledge`. A document is indexed again when its hash has
 * changed. Workers that index the same folder at once wait for each other, and the second finds nothing left to do.
 */
import { PackDatabase, type Ask } from '../database/pack-database.ts'
import { findDocuments, readDocument, type Document } from './documents.ts'

/** The changes of an indexing. */
export interface Indexed {
  /** Documents that are new or have changed. */
  indexed: number
  /** Documents that were as they had been. */
  unchanged: number
  /** Documents that are gone. */
  removed: number
}

export interface Hit {
  path: string
  line: number
  snippet: string
}

export interface IndexOptions {
  folder: string
  collection: string
  language: string
  extensions: readonly string[]
  connectionString?: string
}

/** Another worker may be indexing the same folder. */
const ANSWER_WITHIN_MS = 60 * 60_000

const TABLES = `
  create schema if not exists stello_knowledge;
  create table if not exists stello_knowledge.documents (
    collection text not null, path text not null, hash text not null, language text not null, body text not null,
    primary key (collection, path)
  );
  create table if not exists stello_knowledge.passages (
    collection text not null, path text not null, line integer not null, body text not null, words tsvector not null,
    primary key (collection, path, line),
    foreign key (collection, path) references stello_knowledge.documents on delete cascade
  );
  create index if not exists passages_words on stello_knowledge.passages using gin (words)`
const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 731406142))'
const KNOWN = 'select path, hash, language from stello_knowledge.documents where collection = $1'
const REMOVE = 'delete from stello_knowledge.documents where collection = $1 and path = any($2)'
const ADD = `
  with document as (
    insert into stello_knowledge.documents (collection, path, hash, language, body) values ($1, $2, $3, $4, $5)
  )
  insert into stello_knowledge.passages (collection, path, line, body, words)
  select $1, $2, line, body, setweight(to_tsvector($4::regconfig, $2), 'A') || to_tsvector($4::regconfig, body)
  from unnest($6::int[], $7::text[]) as passage(line, body)`
/** Passages with all the words come first, then those with some. A word that must not occur makes all others needed. */
const SEARCH = `
  with asked as (select websearch_to_tsquery($2::regconfig, $3) as whole),
  wanted as (
    select whole, case when whole::text like '%!%' then whole else replace(whole::text, ' & ', ' | ')::tsquery end as parts
    from asked
  )
  select path, line, ts_headline($2::regconfig, body, parts, 'MaxWords=60, MinWords=30, StartSel=**, StopSel=**') as snippet
  from (
    select p.path, p.line, p.body, wanted.parts, p.words @@ wanted.whole as fits, ts_rank_cd(p.words, wanted.parts) as rank
    from stello_knowledge.passages p, wanted where p.collection = $1 and p.words @@ wanted.parts
    order by fits desc, rank desc, path, line limit $4
  ) found order by fits desc, rank desc, path, line`
const READ = 'select body from stello_knowledge.documents where collection = $1 and path = $2'

export class KnowledgeIndex {
  readonly #options: IndexOptions
  readonly #db: PackDatabase

  constructor(options: IndexOptions) {
    const { connectionString } = options
    this.#options = options
    this.#db = new PackDatabase({
      pack: 'knowledge',
      tables: TABLES,
      answerWithinMs: ANSWER_WITHIN_MS,
      ...(connectionString && { connectionString }),
    })
  }

  /** @throws the error of Node when the folder cannot be read; StelloError DATABASE_UNREACHABLE */
  async update(): Promise<Indexed> {
    const { folder, extensions } = this.#options
    const paths = await findDocuments(folder, extensions)
    return this.#db.transaction((ask) => this.#bringUp(ask, paths))
  }

  search(query: string, limit: number): Promise<Hit[]> {
    const { collection, language } = this.#options
    return this.#db.ask<Hit>(SEARCH, [collection, language, query, limit])
  }

  /** @returns undefined when there is no such document */
  async read(path: string): Promise<string | undefined> {
    const [found] = await this.#db.ask<{ body: string }>(READ, [this.#options.collection, path])
    return found?.body
  }

  close(): Promise<void> {
    return this.#db.close()
  }

  async #bringUp(ask: Ask, paths: readonly string[]): Promise<Indexed> {
    const { folder, collection, language } = this.#options
    await ask(LOCK, [collection])
    const known = new Map(
      (await ask<{ path: string; hash: string; language: string }>(KNOWN, [collection])).map((row) => [row.path, row]),
    )
    const done: Indexed = { indexed: 0, unchanged: 0, removed: 0 }
    const there = new Set<string>()
    for (const path of paths) {
      const document = await readDocument(folder, path)
      if (!document) continue
      there.add(path)
      const before = known.get(path)
      if (before?.hash === document.hash && before.language === language) {
        done.unchanged++
        continue
      }
      await ask(REMOVE, [collection, [path]])
      await this.#add(ask, document)
      done.indexed++
    }
    const gone = [...known.keys()].filter((path) => !there.has(path))
    await ask(REMOVE, [collection, gone])
    return { ...done, removed: gone.length }
  }

  async #add(ask: Ask, { path, hash, text, passages }: Document): Promise<void> {
    const { collection, language } = this.#options
    const [lines, bodies] = [passages.map(({ line }) => line), passages.map((passage) => passage.text)]
    await ask(ADD, [collection, path, hash, language, text, lines, bodies])
  }
}
