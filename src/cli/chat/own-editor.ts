/** The person's own editor, for a text that is too long for a line. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Its command; undefined: none is named. */
export function ownEditor(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env['VISUAL'] || env['EDITOR'] || undefined
}

/**
 * Opens a text in an editor and waits for its end.
 *
 * @param name of the file, by which the editor knows what it is
 * @returns what was saved, without the end of its last line; undefined when the editor has failed
 */
export async function editIn(editor: string, text: string, name: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'stello-chat-'))
  const file = join(folder, name)
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // The variable may hold options too: `code --wait`.
    const [code] = (await once(spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' }), 'close')) as [
      number,
    ]
    return code === 0 ? readFileSync(file, 'utf8').replace(/\n$/, '') : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
