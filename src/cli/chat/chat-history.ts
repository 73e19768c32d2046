/** The lines that a person has typed in chats of this folder, for the arrow keys: `.stello/chat-history`, for the owner's eyes only. */
import { existsSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { namedHome } from '../../dev/dev-info.ts'

const FILE = 'chat-history'
/** The most messages that are kept, and the longest of them. */
const KEPT = 500
const LONGEST = 10_000
const OWNER_ONLY = 0o600

/** Oldest first; empty where nothing can be read. */
export async function loadHistory(home: string = namedHome()): Promise<string[]> {
  const text = await readFile(join(home, FILE), 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => {
    const typed = parsed(line)
    return typeof typed === 'string' ? [typed] : []
  })
}

/** Writes nothing where there is no folder `.stello`. A history that cannot be written is no reason to fail. */
export async function keepHistory(history: readonly string[], home: string = namedHome()): Promise<void> {
  if (!existsSync(home)) return
  const lines = history.filter(({ length }) => length <= LONGEST).slice(-KEPT)
  const path = join(home, FILE)
  try {
    await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: OWNER_ONLY })
    await chmod(path, OWNER_ONLY)
  } catch {
    // The chat matters, not its history.
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
