#!/usr/bin/env node
/**
 * `npm run test:mutants`: breaks a copy of the code in one small way after the other, and runs the test that must notice.
 * It tells of each break whether the test has noticed it. It exits with 1 when one stays unnoticed, or when a test fails
 * without any break. The checkout is never touched.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BREAKS } from './breaks.mjs'

const HELP = `npm run test:mutants                      every break
npm run test:mutants -- --only NAME       the breaks with NAME in their rule, their file or their test; may be repeated
npm run test:mutants -- --list            their names, without a test`

const root = fileURLToPath(new URL('../..', import.meta.url))
const copy = mkdtempSync(join(tmpdir(), 'stello-mutants-'))
const report = join(copy, 'report.json')
let running

/** @returns the report of Vitest, or undefined if it has ended without one */
async function runTests({ project, tests, name, bail }) {
  const one = name ? ['-t', name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')] : []
  const args = ['run', '--project', project, ...tests, ...one, ...(bail ? ['--bail=1'] : [])]
  const options = ['--reporter=json', `--outputFile=${report}`]
  rmSync(report, { force: true })
  running = spawn(process.execPath, [join(copy, 'node_modules/vitest/vitest.mjs'), ...args, ...options], {
    cwd: copy,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await new Promise((resolve) => running.once('close', resolve))
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return undefined
  }
}

/** @returns what is wrong with the break, or undefined: its test has noticed it */
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
    if (!result) return 'Vitest has told nothing'
    if (ran(result) === 0)
      return `no test of ${test} ran: ${result.testResults[0]?.message || `none is called "${name}"`}`
    return result.numFailedTests > 0 ? undefined : `no test of ${test} has noticed it`
  } finally {
    writeFileSync(path, whole)
  }
}

/** How many tests have run. Those that the name leaves out are only counted. */
function ran({ numPassedTests, numFailedTests }) {
  return numPassedTests + numFailedTests
}

/** @returns the test files that fail although nothing is broken, and would notice every break, and those that are not in that project */
async function redWithoutBreak(chosen) {
  const red = []
  for (const project of new Set(chosen.map((one) => one.project))) {
    const tests = [...new Set(chosen.filter((one) => one.project === project).map(({ test }) => test))]
    console.log(`without a break: ${tests.length} test files of ${project}`)
    const result = await runTests({ project, tests })
    const failed = result?.testResults.filter(({ status }) => status !== 'passed').map(({ name }) => name) ?? tests
    red.push(...failed.map((file) => file.replace(`${copy}/`, '')))
    const found = result?.testResults.map(({ name }) => name) ?? tests
    red.push(...tests.filter((test) => !found.some((file) => file.endsWith(test))))
  }
  return red
}

async function main() {
  const options = { only: { type: 'string', multiple: true }, list: { type: 'boolean' }, help: { type: 'boolean' } }
  const { values } = parseArgs({ options })
  if (values.help) return console.log(HELP)
  const fits = ({ rule, file, test }) =>
    !values.only || values.only.some((text) => `${rule} ${file} ${test}`.includes(text))
  const chosen = BREAKS.filter(fits)
  if (chosen.length === 0)
    throw new Error(`no break has this in its rule, its file or its test: ${[values.only].flat().join(', ')}`)
  if (values.list) return console.log(chosen.map(({ rule, file }) => `${rule}  (${file})`).join('\n'))

  for (const entry of ['src', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts', 'examples', 'bench'])
    cpSync(join(root, entry), join(copy, entry), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const problems = (await redWithoutBreak(chosen)).map(
    (file) => `${file} fails without any break, or is not in that project`,
  )
  let noticed = 0
  for (const [n, mutant] of chosen.entries()) {
    const begun = performance.now()
    const problem = await check(mutant)
    const seconds = Math.round((performance.now() - begun) / 1000)
    console.log(`${n + 1}/${chosen.length} ${problem ? 'NOT NOTICED' : 'noticed'} (${seconds} s): ${mutant.rule}`)
    if (problem) problems.push(`${mutant.rule} (${mutant.file}): ${problem}`)
    else noticed++
  }
  console.log(`\n${noticed} of ${chosen.length} breaks are noticed`)
  for (const problem of problems) console.log(`- ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}

process.once('SIGINT', () => {
  running?.kill()
  process.exit(130)
})
process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
await main().catch((error) => {
  console.error(error.message)
  process.exitCode = 2
})
