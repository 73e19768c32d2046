/**
 * Memories as files that people can read and change: `<folder>/<space>/<name>.md`, the facts as front matter. The
 * version is the hash of the file, so a change by hand counts too.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import { MEMORY_TYPES, type Memory, type MemoryStore, type StoredMemory } from './memory-store.ts'

const FORM = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/

/**
 * Keeps memories in a folder of this machine. Its workers must be on one machine: several share `postgresMemory`.
 *
 * @throws StelloError INVALID_ARGUMENT when the folder is not absolute
 * @example new MemoryManager(new FileSystemMemoryStore('/srv/memories'))
 */
export class FileSystemMemoryStore implements MemoryStore {
  readonly #folder: string
  /** The last write of each file: the next one waits for it. */
  readonly #writing = new Map<string, Promise<unknown>>()

  /** @param folder an absolute path; a missing folder is made */
  constructor(folder: string) {
    if (!isAbsolute(folder)) {
      throw new StelloError('INVALID_ARGUMENT', `FileSystemMemoryStore: "${folder}" is no absolute path`)
    }
    this.#folder = folder
  }

  /** All memories of the space, by name. */
  async list(space: string): Promise<StoredMemory[]> {
    const files = await readdir(join(this.#folder, space)).catch(orNothing)
    const names = (files ?? []).filter((file) => file.endsWith('.md')).map((file) => file.slice(0, -'.md'.length))
    const found = await Promise.all(names.toSorted().map((name) => this.get(space, name)))
    return found.filter((memory) => memory !== undefined)
  }

  /** The memory of that name, or undefined. */
  async get(space: string, name: string): Promise<StoredMemory | undefined> {
    const text = await readFile(this.#path(space, name), 'utf8').catch(orNothing)
    return text === undefined ? undefined : { ...toMemory(name, text), version: hashOf(text) }
  }

  /** Writes the memory if the stored one still has that version; unset: if there is none. */
  put(space: string, memory: Memory, expectedVersion: string | undefined): Promise<boolean> {
    const path = this.#path(space, memory.name)
    return this.#alone(path, async () => {
      const found = await this.get(space, memory.name)
      if (found?.version !== expectedVersion) return false
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
      await mkdir(join(this.#folder, space), { recursive: true })
      await writeFile(temporary, toText(memory), { flush: true })
      await rename(temporary, path)
      return true
    })
  }

  /** Removes the file; false when there is none. */
  delete(space: string, name: string): Promise<boolean> {
    const path = this.#path(space, name)
    return this.#alone(path, async () => {
      const removed = await rm(path).then(() => true, orNothing)
      return removed ?? false
    })
  }

  #path(space: string, name: string): string {
    return join(this.#folder, space, `${name}.md`)
  }

  /** One work at a file at a time. */
  #alone<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
    const done = (this.#writing.get(path) ?? Promise.resolve()).then(work, work)
    this.#writing.set(path, done)
    const forget = (): void => {
      if (this.#writing.get(path) === done) this.#writing.delete(path)
    }
    done.then(forget, forget)
    return done
  }
}

function toText({ description, type, body }: Memory): string {
  return `---\n${stringify({ description, type })}---\n${body}`
}

/** A file that somebody wrote without front matter is all body. */
function toMemory(name: string, text: string): Memory {
  const [, facts = '', body = text] = FORM.exec(text) ?? []
  const given = readFacts(facts)
  const type = MEMORY_TYPES.find((known) => known === given['type']) ?? 'project'
  const { description } = given
  return { name, description: typeof description === 'string' ? description : '', type, body }
}

function readFacts(text: string): Record<string, unknown> {
  try {
    const facts: unknown = parse(text)
    return isObject(facts) ? facts : {}
  } catch {
    return {}
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function orNothing(error: unknown): undefined {
  if (Object(error).code === 'ENOENT') return undefined
  throw error
}
