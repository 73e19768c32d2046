/** The list of `npm run test:mutants` fits the code: the check itself takes minutes and is not part of CI. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

interface Break {
  rule: string
  file: string
  from: string
  test: string
}

const lists = ['ledger', 'permissions', 'session', 'workers']
const modules = await Promise.all(
  lists.map((name) => import(`../../scripts/mutants/${name}.mjs`) as Promise<Record<string, Break[]>>),
)
const breaks = modules.flatMap((module) => Object.values(module).flat())

it('finds at least 30 rules to break', () => {
  expect(breaks.length).toBeGreaterThanOrEqual(30)
})

it.each(breaks)('finds the text of "$rule" once in $file, and the test that must notice', ({ file, from, test }) => {
  expect(readFileSync(file, 'utf8').split(from).length - 1).toBe(1)
  expect(existsSync(test)).toBe(true)
})
