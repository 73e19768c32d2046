/** What a memory is, and what keeps it. A store knows no model: names and lengths are checked before it is asked. */

/** The subjects of memories: the user, how to work, the project, or where something is found. */
export const MEMORY_TYPES = ['user', 'feedback', 'project', 'reference'] as const
/** One of `user`, `feedback`, `project`, `reference`. */
export type MemoryType = (typeof MEMORY_TYPES)[number]

/** The form of a memory's name. */
export const MEMORY_NAME: RegExp = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** Something that an agent has noted for later sessions. */
export interface Memory {
  /** Unique in its space: lower-case letters, digits, `-` and `_`, at most 64. */
  name: string
  /** One line: by it a model decides whether to read the body. */
  description: string
  /** What it is about. */
  type: MemoryType
  /** The text itself. */
  body: string
}

/** A memory as a store holds it. */
export interface StoredMemory extends Memory {
  /** Another one after each change. */
  version: string
}

/**
 * Keeps memories in spaces: what is saved in one is not seen in another. Implement it to keep them elsewhere. Names are
 * checked before a method is called.
 *
 * @example
 * const redisStore: MemoryStore = { list, get, put, delete: remove }
 * const memoryManager = new MemoryManager(redisStore)
 */
export interface MemoryStore {
  /** All memories of the space, by name. */
  list(space: string): Promise<StoredMemory[]>
  /** The memory of that name, or undefined. */
  get(space: string, name: string): Promise<StoredMemory | undefined>
  /**
   * Writes the memory if the stored one still has that version.
   *
   * @param expectedVersion unset: there must be none
   * @returns false when there is another version
   */
  put(space: string, memory: Memory, expectedVersion: string | undefined): Promise<boolean>
  /** Forgets the memory of that name; false when there is none. */
  delete(space: string, name: string): Promise<boolean>
  /** Called before the worker asks for work. If it throws, the worker does not start. */
  open?(): Promise<void>
  /** Called when the worker has stopped. */
  close?(): Promise<void>
}
