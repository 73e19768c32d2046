/**
 * Only `src/protocol/keys.ts` spells and reads the keys of steps and events. Code elsewhere would decide by the letters
 * of a key.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const src = fileURLToPath(new URL('../../src', import.meta.url))
const ROOM = 'protocol/keys.ts'

const SPELLED: readonly RegExp[] = [
  // `m${turn}.${round}`, `a${told}`, 'm' || turn, 't1.0.0'
  /`[mta]\$\{/,
  /'[mta]' \|\|/,
  /['"`][mt]\d+\.\d/,
  // `${key}.open`, key || '.open', key.endsWith('.status')
  /(\}|['"`])\.(open|fork|opened|closed|message|turn|status|completed|forked|quarantined)['"`]/,
  // 'open' as a step, `fork.${id}`, `rejected ${id}`
  /\b(key|step_key)( =|:) '(?!null|minimum)\w/,
  /`(fork|held|rewound|rejected|client)[./ ]\$\{/,
  // `${key}@${gen}`, id.lastIndexOf('@'), origin.split('/'), split_part(step_key, '.', 3)
  /\}@\$\{(gen|step)/,
  /'@'/,
  /\b(key|step|stepKey|callKey|step_key|origin)\b[^\n]{0,9}(\.(split|slice|match|startsWith|endsWith|replace)\(| ~ | like )/,
  /split_part\(|substring\([^)]*from '/,
  // /^t\d+\.\d+/
  /\^\(?[mta[]+\\+d/,
]

const COMMENT = /^ *(\/\*\*|\*|\/\/)/

function spelledIn(text: string): string[] {
  return text.split('\n').filter((line) => !COMMENT.test(line) && SPELLED.some((pattern) => pattern.test(line)))
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))

it('no other file spells or reads a key', () => {
  expect(files).toContain(ROOM)
  const found = files
    .filter((file) => file !== ROOM)
    .flatMap((file) => spelledIn(readFileSync(join(src, file), 'utf8')).map((line) => `${file}: ${line.trim()}`))
  expect(found).toEqual([])
})

describe('a key that is spelled elsewhere is found', () => {
  it.each([
    'key: `m${turn.n}.${turn.round}`,',
    'const key = `t${turn}.${round}.${index}`',
    'key: `a${told.announcements}`',
    "step_key = 'm' || t.turn || '.' || round",
    "const first = 'm1.0'",
    'key: `${key}.opened`,',
    "step_key = child.call || '.open'",
    "const task = key.endsWith('.open') ? key : undefined",
    "return step.startsWith('m')",
    "key: 'open',",
    'key: `fork.${sessionId}`',
    'return `rejected ${messageId}`',
    'return `${key}@${gen}.${lease}`',
    "const key = id.slice(0, id.lastIndexOf('@'))",
    "const [parent] = origin.split('/')",
    "split_part(step_key, '.', 3)",
    "s.origin like s.parent_id || '/%'",
    'if (!/^t\\d+\\.\\d+\\.\\d+$/.test(callKey)) return',
    "substring(step_key from '^t(\\\\d+)')",
  ])('%s', (line) => {
    expect(spelledIn(line)).toEqual([line])
  })
})
