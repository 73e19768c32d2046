/** A refusal that the model can avoid by another call. It becomes a result that the model reads, never an exception. */

export class Refusal extends Error {
  override readonly name = 'Refusal'
}

/** Node's own messages would show the model paths of the host. */
const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is a file, not a directory',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its links lead in a circle or away',
  ENXIO: 'it is no regular file',
  ENOENT: 'it does not exist',
}

export interface Refused {
  success: false
  error: string
}

/**
 * Errors that no other call can avoid, such as a full disk, are thrown on. @param given the model's name for the file
 */
export async function answering<Result>(given: string, work: () => Promise<Result>): Promise<Result | Refused> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) return { success: false, error: error.message }
    const reason = REASONS[codeOf(error) ?? '']
    if (reason === undefined) throw error
    return { success: false, error: `Cannot use ${given}: ${reason}.` }
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
}
