/** Writes the whole output of a command to a file, up to a limit: what comes after it is lost. */
import { open, type FileHandle } from 'node:fs/promises'

/** Largest log, in bytes. */
export const LOG_LIMIT: number = 50 * 1024 * 1024

export interface OutputLog {
  /** Resolves when it is written, so that a fast program waits for the disk. */
  write(bytes: Buffer): Promise<void>
  close(): Promise<void>
}

export async function openLog(path: string): Promise<OutputLog> {
  const file: FileHandle = await open(path, 'w', 0o600)
  let size = 0
  let last: Promise<unknown> = Promise.resolve()
  return {
    write(bytes) {
      const fits = bytes.subarray(0, Math.max(0, LOG_LIMIT - size))
      size += fits.length
      // A full disk loses the log, not the command.
      if (fits.length > 0) last = last.then(() => file.appendFile(fits)).catch(() => undefined)
      return last.then(() => undefined)
    },
    async close() {
      await last
      await file.close()
    },
  }
}
