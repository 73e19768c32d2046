/** The list of `npm run test:mutants` fits the code. The command itself takes long, so it is not part of CI. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

interface Break {
  rule: string
  file: string
  from: string
  to: string
  test: string
  name?: string
}

const { BREAKS: breaks } = (await import(new URL('../../scripts/mutants/breaks.mjs', import.meta.url).href)) as {
  BREAKS: Break[]
}

it('finds at least 100 rules to break, each under a name of its own', () => {
  expect(breaks.length).toBeGreaterThanOrEqual(100)
  expect(new Set(breaks.map(({ rule }) => rule)).size).toBe(breaks.length)
})

it.each(breaks)('finds the text of "$rule" once in $file, and the test that must notice', (one) => {
  const { file, from, to, test, name = '' } = one
  expect(readFileSync(file, 'utf8').split(from).length - 1).toBe(1)
  expect(to).not.toBe(from)
  expect(existsSync(test)).toBe(true)
  expect(readFileSync(test, 'utf8')).toContain(name)
})
