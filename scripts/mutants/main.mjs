#!/usr/bin/env node
/**
 * `npm run test:mutants`: breaks a copy of the code in one small way after the other, and runs the test that must notice.
 * Prints what stays green, and ends with 1 then; the checkout is never touched. Words as arguments: only rules and files with
 * one of them.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LEDGER } from './ledger.mjs'
import { PERMISSIONS } from './permissions.mjs'
import { SESSION } from './session.mjs'
import { WORKERS } from './workers.mjs'

/**
 * Small breaks of rules that nothing may break, each with the test file, and the beginning of the name if need be, that must
 * notice. The text of one stands in its file exactly once.
 *
 * @type {{ rule: string, file: string, from: string, to: string, project: string, test: string, name?: string }[]}
 */
const BREAKS = [...SESSION, ...LEDGER, ...WORKERS, ...PERMISSIONS]

const root = fileURLToPath(new URL('../..', import.meta.url))
const words = process.argv.slice(2)
const chosen = BREAKS.filter(
  ({ rule, file, test }) => words.length === 0 || words.some((word) => `${rule} ${file} ${test}`.includes(word)),
)
const copy = mkdtempSync(join(tmpdir(), 'stello-mutants-'))
const report = join(copy, 'report.json')

/** Ends as vitest does; its output is of no interest, its report is. */
async function runTests({ project, tests, name, bail }) {
  const args = ['run', '--project', project, ...tests, ...(name ? ['-t', name] : []), ...(bail ? ['--bail=1'] : [])]
  const options = ['--reporter=json', `--outputFile=${report}`]
  rmSync(report, { force: true })
  const child = spawn(process.execPath, [join(copy, 'node_modules/vitest/vitest.mjs'), ...args, ...options], {
    cwd: copy,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await new Promise((resolve) => child.once('close', resolve))
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return undefined
  }
}

/** @returns what is wrong with the check, or undefined: the break was noticed */
async function check({ file, from, to, project, test, name }) {
  const path = join(copy, file)
  const whole = readFileSync(path, 'utf8')
  const found = whole.split(from).length - 1
  if (found !== 1) return `its text stands ${found} times in ${file}: adapt scripts/mutants`
  writeFileSync(
    path,
    whole.replace(from, () => to),
  )
  try {
    const result = await runTests({ project, tests: [test], name, bail: true })
    if (!result) return 'vitest told nothing'
    if (result.numTotalTests === 0)
      return `no test of ${test} ran: ${result.testResults[0]?.message ?? 'none fits the name'}`
    return result.numFailedTests > 0 ? undefined : `stays green: ${test}`
  } finally {
    writeFileSync(path, whole)
  }
}

async function main() {
  for (const entry of ['src', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts', 'examples', 'bench'])
    cpSync(join(root, entry), join(copy, entry), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const problems = []
  for (const project of new Set(chosen.map((mutant) => mutant.project))) {
    const tests = [...new Set(chosen.filter((mutant) => mutant.project === project).map(({ test }) => test))]
    const result = await runTests({ project, tests })
    const red = result ? result.testResults.filter(({ status }) => status !== 'passed').map(({ name }) => name) : tests
    for (const file of red) problems.push(`red without any break: ${file.replace(`${copy}/`, '')}`)
  }
  for (const [n, mutant] of chosen.entries()) {
    const begun = performance.now()
    const problem = await check(mutant)
    const seconds = Math.round((performance.now() - begun) / 1000)
    console.log(`${n + 1}/${chosen.length} ${problem ? 'NOT NOTICED' : 'noticed'} (${seconds} s): ${mutant.rule}`)
    if (problem) problems.push(`${mutant.rule} (${mutant.file}): ${problem}`)
  }
  console.log(`\n${chosen.length} breaks, ${problems.length} problems`)
  for (const problem of problems) console.log(`- ${problem}`)
  return problems.length === 0 ? 0 : 1
}

process.once('SIGINT', () => process.exit(130))
process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
process.exitCode = await main()
