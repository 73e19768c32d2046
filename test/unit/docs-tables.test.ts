/** Tables of the documents that repeat a table of the code say the same. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ERROR_CODES, fateOf, reasonOf } from '../../src/core/errors.ts'
import { PENDING_KINDS, decisionsOf, wordOf } from '../../src/protocol/pending.ts'

/** The cells of each row whose first cell is a name in backticks, below the line that begins so. */
function rowsBelow(document: string, head: string): string[][] {
  const lines = readFileSync(new URL(`../../docs/${document}`, import.meta.url), 'utf8').split('\n')
  const table = lines.slice(lines.findIndex((line) => line.startsWith(head)) + 2)
  const rows = table.slice(
    0,
    table.findIndex((line) => !line.startsWith('|')),
  )
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const quoted = (cell = ''): string[] => Array.from(cell.matchAll(/`(\w+)`/g), ([, word]) => word ?? '')

it('what may be asked of a person, and what answers it', () => {
  const documented = rowsBelow('cli.md', '| kind | question |').map(([kind, , decisions, texts]) => {
    return { kind: quoted(kind), decisions: quoted(decisions), texts }
  })
  const known = PENDING_KINDS.map((kind) => {
    const withText = decisionsOf(kind).flatMap((decision) => {
      const text = wordOf(kind, decision)?.text
      return text === undefined ? [] : [`\`${decision}\`: ${text}`]
    })
    return { kind: [kind], decisions: decisionsOf(kind), texts: withText.join('; ') }
  })
  expect(documented).toEqual(known)
})

it('every error code, with its fate and why it pauses a session', () => {
  const documented = rowsBelow('architecture.md', '| fate | reason').flatMap(([fate, reason, codes]) =>
    quoted(codes).map((code) => [code, ...quoted(fate), ...quoted(reason)].join(' ')),
  )
  const known = ERROR_CODES.map((code) => [code, fateOf(code), reasonOf(code).reason].join(' '))
  expect(documented.toSorted()).toEqual(known.toSorted())
})
