/** What people copy from docstrings has the types that it needs. The blocks of documents: `test/examples/readme.test.ts`. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { examplesOf, problemsOf } from './docstrings.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const given = join(root, 'test/architecture/given.d.ts')

/** The page's examples are of its own code, which needs a browser. */
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('web/'))
  .map((file) => `src/${file}`)

it('finds the examples of a docstring, and says what is wrong where', () => {
  const text = '/** A.\n * @example one() // 1\n * @example const a: string = 1\n */\nexport function one() {}'
  const examples = examplesOf('b.ts', text)
  expect(examples).toEqual([
    { file: 'b.ts', line: 1, names: ['one'], text: 'one() // 1' },
    { file: 'b.ts', line: 1, names: [], text: 'const a: string = 1' },
  ])
  expect(problemsOf(root, given, examples.slice(1))).toEqual([expect.stringMatching(/^b\.ts:1\(1,\d+\): error TS2322/)])
}, 60_000)

it('is right in all of them', () => {
  const examples = sources.flatMap((file) => examplesOf(file, readFileSync(join(root, file), 'utf8')))
  expect(examples.length).toBeGreaterThan(200)
  expect(problemsOf(root, given, examples)).toEqual([])
}, 60_000)
