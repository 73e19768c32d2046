#!/usr/bin/env node
/**
 * Does what `docs/tutorial.md` says, in an empty folder with the packed package. It writes the files of the tutorial,
 * runs its commands in one shell, keeps its first terminal open, and looks for the lines that it promises. Needs
 * `dist/`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The first start may have to download the Temporal program. */
const PROMPTLY_MS = 300_000
const root = fileURLToPath(new URL('..', import.meta.url))
if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')

const folder = mkdtempSync(join(tmpdir(), 'stello-tutorial-'))
const project = join(folder, 'library')
const { NODE_OPTIONS: _options, STELLO_HOME: _home, ...inherited } = process.env
// On CI, the commands would print in colours.
const env = { ...inherited, NO_COLOR: '1' }
/** Commands that change nothing: they are repeated until they show what the page promises. */
const LOOKS = /^(?:npx stello (?:list|inbox|tree|transcript)\b.*\n)+$/

/** A process whose output is kept; it leads a group, so that all of it can be ended. */
function open(command, args, cwd) {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const terminal = { child, output: '', ended: once(child, 'close') }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      terminal.output += data
    })
  return terminal
}

/** Sends a signal to all processes of a terminal. */
function all({ child: { pid } }, signal) {
  if (pid !== undefined) process.kill(-pid, signal)
}

async function end(terminal) {
  if (!terminal) return
  all(terminal, 'SIGINT')
  await ended(terminal)
}

/** Waits for the end of a terminal, and kills one that takes too long. */
async function ended(terminal) {
  const slow = new AbortController()
  setTimeout(PROMPTLY_MS, undefined, { signal: slow.signal }).then(
    () => all(terminal, 'SIGKILL'),
    () => undefined,
  )
  const result = await terminal.ended
  slow.abort()
  return result
}

/** A line of the page, in which … stands for anything. */
const pattern = (line) =>
  new RegExp(
    line
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  )
const missing = (text, output) =>
  text
    .trim()
    .split('\n')
    .filter((line) => !pattern(line.trim()).test(output))

let first
async function run(script) {
  const shell = open('bash', ['-euo', 'pipefail', '-s'], existsSync(project) ? project : folder)
  shell.child.stdin.end(script)
  const [code] = await ended(shell)
  if (code !== 0)
    throw new Error(`exit code ${code} of\n${script}\n${shell.output}\n--- first terminal\n${first?.output}`)
  return shell.output
}

async function promised(text, from) {
  for (const deadline = Date.now() + PROMPTLY_MS; missing(text, from.output).length > 0; await setTimeout(200)) {
    if (Date.now() > deadline || from.child?.exitCode != null)
      throw new Error(`not printed: ${missing(text, from.output).join(' | ')}\n${from.output}`)
  }
}

async function follow(language, where, body) {
  if (language === 'ts') return writeFileSync(join(project, where), body)
  if (language === 'sh' && where === 'first terminal') {
    first = open('bash', ['-c', `exec ${body.trim()}`], project)
    return undefined
  }
  if (language === 'sh') return void (last = { output: await run(body), body })
  if (language !== 'text') throw new Error(`what is a block of "${language}"?`)
  if (where === 'first terminal' || last === undefined) return promised(body, first)
  for (const deadline = Date.now() + PROMPTLY_MS; missing(body, last.output).length > 0;) {
    if (!LOOKS.test(last.body) || Date.now() > deadline)
      throw new Error(`not printed: ${missing(body, last.output).join(' | ')}\n${last.output}`)
    last.output = await run(last.body)
  }
}

let last
try {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, encoding: 'utf8' }),
  )
  console.log(`ok  ${packed.filename}`)
  const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8')
  for (const step of page.split(/^## /m).slice(1)) {
    const begun = performance.now()
    last = undefined
    for (const [, language, where, body] of step.matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm))
      await follow(language, where, body)
    console.log(`ok  ${step.split('\n')[0]} (${((performance.now() - begun) / 1000).toFixed(1)} s)`)
  }
} finally {
  // As Ctrl-C in a terminal.
  await end(first)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
