/** The arguments of a call that waits for permission, for a person who changes them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InboxItem, StelloClient } from '../../client/index.ts'

/** The whole arguments, which an item shows only the beginning of. */
export async function argumentsOf(stello: StelloClient, item: InboxItem): Promise<string> {
  if (item.kind === 'paused') return '{}'
  const messages = await stello.session(item.sessionId).transcript()
  const call = messages.flatMap(({ toolCalls = [] }) => toolCalls).findLast(({ id }) => id === item.callId)
  const text = call?.arguments ?? item.preview
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** The person's own editor; undefined: none is named. */
export function ownEditor(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env['VISUAL'] || env['EDITOR'] || undefined
}

/**
 * Opens a text in an editor and waits for its end.
 *
 * @returns what was saved; undefined when the editor has failed
 */
export async function editIn(editor: string, text: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'stello-chat-'))
  const file = join(folder, 'arguments.json')
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // The variable may hold options too: `code --wait`.
    const [code] = (await once(spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' }), 'close')) as [
      number,
    ]
    return code === 0 ? readFileSync(file, 'utf8') : undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
