/** Random scripts, run by a real bash whose programs only report that they were run. None of them was overlooked. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { touchesOf } from '../../../../src/capabilities/shell/command-touches.ts'

const PROGRAMS = ['make', 'npm', 'rm', 'cat', 'ls', 'sudo', 'curl']

const plain = fc.constantFrom(
  'a',
  '-x',
  'a.txt',
  "'b c'",
  '"d e"',
  'f\\ g',
  '"$x"',
  '$y',
  '*',
  '~',
  '{m,n}',
  "$'h'",
  '--',
  '#',
  '1',
  '!',
)
const program = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PROGRAMS) },
  fc.constantFrom(
    '"make"',
    "'npm'",
    'r\\m',
    'l"s"',
    '$x',
    '"$z"',
    'eval',
    'command',
    'env A=1',
    'timeout 5',
    'nohup',
    'exec',
    'bash -c',
    'xargs',
    '\\\n',
    ':',
  ),
)
const { script } = fc.letrec<{ script: string; command: string; word: string }>((tie) => ({
  word: fc.oneof(
    { weight: 5, arbitrary: plain },
    tie('script').map((text) => `$(${text})`),
    tie('script').map((text) => `"$(${text})"`),
    tie('script').map((text) => `<(${text})`),
    tie('script').map((text) => `'${text.replaceAll("'", '')}'`),
    tie('script').map((text) => `\`${text.replaceAll(/[`\\]/g, '')}\``),
    tie('script').map((text) => '${v:-$(' + text + ')}'),
  ),
  command: fc
    .tuple(
      program,
      fc.array(tie('word'), { maxLength: 3 }),
      fc.constantFrom('', '', ' 2>&1', ' > out', ' < in', ' >&2 b', ' <<< x'),
    )
    .map(([name, words, redirect]) => [name, ...words].join(' ') + redirect),
  script: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: tie('command') },
    fc
      .tuple(tie('script'), fc.constantFrom(' && ', ' || ', '; ', ' | ', '\n', ' & ', ';', '|&'), tie('script'))
      .map((parts) => parts.join('')),
    tie('script').map((text) => `(${text})`),
    tie('script').map((text) => `{ ${text}\n}`),
    tie('script').map((text) => `if ${text}\nthen ls\nfi`),
    tie('script').map((text) => `for x in a make; do ${text}\ndone`),
    tie('script').map((text) => `! ${text}`),
    tie('script').map((text) => `cat <<EOF\nx $(${text}) \`ls\`\nEOF\n`),
    tie('script').map((text) => `bash <<'EOF'\n${text}\nEOF\n`),
    tie('script').map((text) => `f() { ${text}\n}; f`),
    tie('script').map((text) => `case a in a) ${text}\n;; esac`),
    tie('script').map((text) => `x=$(${text}) ls`),
    tie('script').map((text) => `[ -n a ] && ${text} # ${text.replaceAll('\n', ' ')}`),
  ),
}))

it(
  'every program that bash runs is a command that was found, unless something was unknown',
  { timeout: 120_000 },
  async () => {
    const base = mkdtempSync(join(tmpdir(), 'stello-bash-'))
    const [programs, work] = [join(base, 'bin'), join(base, 'work')]
    for (const folder of [programs, work]) mkdirSync(folder)
    const stub = join(base, 'stub')
    writeFileSync(stub, '#!/bin/sh\necho "${0##*/}" >> "$LOG"\n')
    chmodSync(stub, 0o755)
    for (const name of PROGRAMS) symlinkSync(stub, join(programs, name))
    for (const [name, path] of [
      ['bash', '/bin/bash'],
      ['sh', '/bin/sh'],
      ['env', '/usr/bin/env'],
      ['timeout', '/usr/bin/timeout'],
      ['nohup', '/usr/bin/nohup'],
      ['xargs', '/usr/bin/xargs'],
    ]) {
      symlinkSync(path as string, join(programs, name as string))
    }
    let [run, compared] = [0, 0]
    try {
      await fc.assert(
        fc.asyncProperty(script, async (text) => {
          const touches = await touchesOf(text, work)
          if (touches.some(({ kind }) => kind === 'unknown')) return
          // A program of an earlier script may still run.
          const log = join(base, `log-${run++}`)
          writeFileSync(log, '')
          const env = { PATH: programs, LOG: log, HOME: work, x: 'sudo curl', y: 'rm', z: 'npm' }
          try {
            execFileSync('/bin/bash', ['-c', `ulimit -u 4000; ${text}\nwait`], {
              cwd: work,
              env,
              stdio: 'ignore',
              timeout: 5000,
            })
          } catch {
            // Whether it succeeds does not matter.
          }
          const ran = readFileSync(log, 'utf8').split('\n').filter(Boolean)
          const found = touches.flatMap((touch) => (touch.kind === 'command' ? [touch.argv[0]] : []))
          compared += ran.length
          expect(ran.filter((name) => !found.includes(name))).toEqual([])
        }),
        { numRuns: 300, seed: 14 },
      )
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
    expect(compared).toBeGreaterThan(100)
  },
)
