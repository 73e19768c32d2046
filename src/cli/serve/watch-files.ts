/**
 * Tells when files of the user have been saved: sources, skills and settings, but neither packages nor the files of `stello`
 * itself. It looks at the times of the files again and again: that works on every file system and misses nothing, and a
 * project has few such files.
 */
import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { glob } from 'tinyglobby'

const SOURCES = ['**/*.{ts,mts,cts,tsx,js,mjs,cjs,jsx,json,md}', '.env']
const SKIPPED = ['**/node_modules', '**/.*/**', '**/dist', '**/coverage']
const LOOK_EVERY_MS = 500

/** Time and size of each file. */
type Seen = ReadonlyMap<string, string>

/**
 * Resolves when the files have been looked at for the first time.
 *
 * @param saved is told one of the files, once for all that were saved since the last look
 */
export async function watchFiles(
  folders: readonly string[],
  saved: (file: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let seen = await look(folders)
  void (async () => {
    for (;;) {
      await delay(LOOK_EVERY_MS, undefined, { signal })
      const now = await look(folders)
      const changed = [...now].find(([file, state]) => seen.get(file) !== state)?.[0]
      const removed = [...seen.keys()].find((file) => !now.has(file))
      seen = now
      const file = changed ?? removed
      if (file !== undefined) saved(file)
    }
  })().catch(() => undefined)
}

async function look(folders: readonly string[]): Promise<Seen> {
  const found = await Promise.all(
    folders.map((cwd) =>
      glob(SOURCES, { cwd, ignore: SKIPPED, absolute: true, dot: true, followSymbolicLinks: false }),
    ),
  )
  const states = await Promise.all([...new Set(found.flat())].map(async (file) => [file, await stateOf(file)] as const))
  return new Map(states.filter((entry): entry is readonly [string, string] => entry[1] !== undefined))
}

async function stateOf(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined)
  return found && `${found.mtimeMs} ${found.size} ${found.ino}`
}
