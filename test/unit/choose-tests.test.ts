/** What `npm test` runs: some projects in minutes, and whatever somebody names, wherever it is. */
import { expect, it } from 'vitest'
import config from '../../vitest.config.ts'

const { QUICK, chosen } = (await import('../../scripts/test/choose.mjs' as string)) as {
  QUICK: string[]
  chosen(given: string[]): string[]
}
const quick = QUICK.flatMap((project) => ['--project', project])

it('runs the quick projects, which there are', () => {
  const projects = (config.test?.projects ?? []) as { test: { name: string } }[]
  expect(projects.map(({ test }) => test.name)).toEqual(expect.arrayContaining(QUICK))
  expect(chosen([])).toEqual(quick)
})

it.each([[['--reporter', 'verbose']], [['--bail=1', '--no-color']], [['--update']]])(
  'runs them too with options that choose no tests: %j',
  (given) => {
    expect(chosen(given)).toEqual([...given, ...quick])
  },
)

it.each([
  [['test/crash/take-over.test.ts']],
  [['take-over', '--bail', '1']],
  [['-t', 'a worker that stops']],
  [['--testNamePattern=stops']],
  [['--project', 'crash']],
  [['--changed']],
  [['--reporter', 'verbose', 'test/cli']],
])('looks for what is named in all projects: %j', (given) => {
  expect(chosen(given)).toEqual(given)
})
