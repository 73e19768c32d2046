/** Texts that no reader of Markdown survives are shown as they are. */
import { expect, it } from 'vitest'
import { isReadable } from '../../../src/core/is-readable.ts'

it.each([
  ['quotes in each other', `${'>'.repeat(5000)} x`],
  ['lists in each other', `${'- '.repeat(200)}x`],
  ['openings that never close', `${'*a **b '.repeat(2000)}x${'** c*'.repeat(2000)}`],
  ['a text of many pages', 'a\n\n'.repeat(100_000)],
])('%s are not read', (_, text) => expect(isReadable(text)).toBe(false))

it.each([
  ['an answer', '# Why\n\n- **one** `x`\n- two\n\n> > quoted twice\n\n```ts\nconst a = [1, 2]\n```'],
  ['a long answer', 'A **word** and a [link](https://x.y).\n\n'.repeat(2000)],
  ['a rule of dashes', '-'.repeat(80)],
])('%s is read', (_, text) => expect(isReadable(text)).toBe(true))
