/** What people copy from the documentation and from docstrings has the types that it needs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { filesBelow, inDocument, inSource, problemsOf, type Snippet } from './snippets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const given = join(root, 'test/architecture/given.d.ts')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const documents = ['README.md', ...filesBelow(join(root, 'docs')).map((file) => `docs/${file}`)].filter((file) =>
  file.endsWith('.md'),
)
/** The page's examples are of its own code, which needs a browser. */
const sources = filesBelow(join(root, 'src'))
  .filter((file) => file.endsWith('.ts') && !file.startsWith('web/'))
  .map((file) => `src/${file}`)

it('finds the blocks of a document and the examples of a docstring, and says what is wrong where', () => {
  const wrong = [
    'text\n```ts\nconst a: string = 1\n```\n',
    '/** A.\n * @example one() // 1\n */\nexport function one() {}',
  ]
  const [block, example] = [inDocument('a.md', wrong[0] ?? ''), inSource('b.ts', wrong[1] ?? '')]
  expect([block, example]).toEqual([
    [{ place: 'a.md:2', text: 'const a: string = 1\n' }],
    [{ place: 'b.ts:1', own: { file: 'b.ts', names: ['one'] }, text: 'one() // 1' }],
  ])
  expect(problemsOf(root, given, block)).toEqual([expect.stringMatching(/^a\.md:2\(1,\d+\): error TS2322/)])
}, 60_000)

it('is right in all of them', () => {
  const snippets: Snippet[] = [
    ...documents.flatMap((file) => inDocument(file, read(file))),
    ...sources.flatMap((file) => inSource(file, read(file))),
  ]
  expect(snippets.length).toBeGreaterThan(200)
  expect(problemsOf(root, given, snippets)).toEqual([])
}, 60_000)
