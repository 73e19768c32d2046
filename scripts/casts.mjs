#!/usr/bin/env node
/**
 * Makes docs/casts from the real thing: a shell on a pseudo-terminal, in which the demo and the chat run. Writes what it has seen as
 * asciicast v2 and as an SVG that plays. Needs `script` of util-linux.
 *
 *   npm run casts [name]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { renderCast } from './cast-svg.mjs'

const { Terminal } = createRequire(import.meta.url)('@xterm/headless')
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const casts = join(root, 'docs/casts')
const LARGEST = 300 * 1024
/** Nobody wants to watch a machine that waits. */
const LONGEST_PAUSE_S = 1.2
/** Where root keeps the database of a folder, as everybody else sees it. */
const FOLDERS = [
  [`${root}/`, ''],
  [/\/var\/lib\/stello\/\w+\//g, '.stello/postgres/'],
]
const TICK_S = 0.05
const TYPING_MS = 45
const LOOK_MS = 50
const AGAIN_MS = 700
const GIVE_UP_MS = 180_000

/** What the demo needs of the checkout: it keeps its servers in the folder where it runs. */
const ENTRIES = ['package.json', 'tsconfig.json', 'node_modules', 'examples', 'src']

/** What a person does: types a line, waits for what the screen shows. */
const FILMS = {
  'demo-crash': {
    title: 'npm run demo -- --crash: the worker is killed in the middle, another goes on',
    size: { columns: 110, lines: 30 },
    async play({ type, shows }) {
      await type('npm run demo -- --crash\r')
      await shows('The servers and the worker stay until Ctrl-C')
    },
    async leave({ press, shows }) {
      press('\u0003')
      await shows('stopping')
    },
  },
  'chat-approval': {
    title: 'stello chat: a call that a person approves',
    size: { columns: 88, lines: 22 },
    serve: 'examples/features/approval.ts',
    async play({ type, press, shows, hides }) {
      await type('stello chat payments\r')
      await shows('❯')
      await setTimeout(600)
      await type('Pay bill 17\r')
      await shows('Esc: later')
      await setTimeout(1500)
      // A panel that has just come answers to no key.
      await hides('Esc: later', () => press('1'))
      await shows('Done: bill 17 is paid')
    },
    async leave({ press, hides }) {
      await hides('payments · scripted', () => press('\u0004'))
    },
  },
}

async function record(name, { title, size: { columns, lines }, serve, play, leave }) {
  const work = mkdtempSync(join(tmpdir(), 'stello-cast-'))
  for (const entry of ENTRIES) symlinkSync(join(root, entry), join(work, entry))
  const env = environment(work)
  // The database is there before the film begins.
  const dev = await start(serve ? ['dev', join(root, serve)] : ['server'], work, env)
  if (!serve) await stop(dev)
  const shell = spawn(
    'script',
    ['-qfec', `stty columns ${columns} rows ${lines}; exec bash --norc --noprofile -i`, '/dev/null'],
    {
      cwd: work,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const view = new Terminal({ cols: columns, rows: lines, allowProposedApi: true })
  view.onData((answer) => shell.stdin.write(answer))
  const pieces = []
  shell.stdout.setEncoding('utf8').on('data', (data) => {
    pieces.push({ at: performance.now() / 1000, data })
    view.write(data)
  })
  const seen = async (holds, what, every = LOOK_MS) => {
    for (const begun = Date.now(); !holds(); await setTimeout(every))
      if (Date.now() - begun > GIVE_UP_MS) throw new Error(`in vain: ${what}\n${screenOf(view, lines)}`)
  }
  const hand = {
    press: (keys) => void shell.stdin.write(keys),
    async type(text) {
      for (const key of text) {
        shell.stdin.write(key)
        await setTimeout(TYPING_MS)
      }
    },
    shows: (text) => seen(() => screenOf(view, lines).includes(text), text),
    hides: (text, again) => seen(() => !screenOf(view, lines).includes(text) || void again(), text, AGAIN_MS),
  }
  try {
    await hand.shows('$ ')
    await play(hand)
    await setTimeout(500)
    const played = pieces.length
    await leave(hand)
    return write(name, { title, columns, lines }, pieces.slice(0, played), work)
  } finally {
    hand.press('exit\r')
    await Promise.race([once(shell, 'close'), setTimeout(60_000)])
    shell.kill('SIGKILL')
    await stop(dev)
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Nothing of the person and the machine that record. */
function environment(work) {
  const program = join(work, 'bin/stello')
  mkdirSync(join(work, 'bin'))
  writeFileSync(
    program,
    `#!/bin/sh\nexec node --import ${join(root, 'node_modules/tsx/dist/loader.mjs')} ${root}/src/cli/main.ts "$@"\n`,
  )
  chmodSync(program, 0o755)
  const { PATH, HOME } = process.env
  return {
    PATH: `${join(work, 'bin')}:${PATH}`,
    HOME,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    PS1: '$ ',
    NPM_CONFIG_USERCONFIG: '/dev/null',
    NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  }
}

/** A command that stays; it is there when it says how to end it. */
async function start(args, cwd, env) {
  const command = spawn('stello', args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(command, 'exit')
  await new Promise((resolve, reject) => {
    let printed = ''
    command.stdout.on('data', (data) => {
      printed += data
      if (printed.includes('Ctrl-C stops')) resolve()
    })
    ended.then(() => reject(new Error(`stello ${args.join(' ')} ended: ${printed}`)), reject)
  })
  return { command, ended }
}

async function stop({ command, ended }) {
  command.kill('SIGINT')
  await ended
}

function screenOf(view, lines) {
  const { active } = view.buffer
  return Array.from({ length: lines }, (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? '').join(
    '\n',
  )
}

async function write(name, { title, columns, lines }, pieces, work) {
  const header = { version: 2, width: columns, height: lines, title }
  const events = []
  let at = 0
  let before = pieces[0].at
  for (const { at: real, data } of pieces) {
    at += Math.min(real - before, LONGEST_PAUSE_S)
    before = real
    const tick = Number((Math.round(at / TICK_S) * TICK_S).toFixed(2))
    const last = events.at(-1)
    const text = FOLDERS.reduce(
      (kept, [folder, shown]) => kept.replaceAll(folder, shown),
      data.replaceAll(`${work}/`, ''),
    )
    if (last?.[0] === tick) last[2] += text
    else events.push([tick, 'o', text])
  }
  const cast = `${[header, ...events].map((line) => JSON.stringify(line)).join('\n')}\n`
  mkdirSync(casts, { recursive: true })
  const files = { [`${name}.cast`]: cast, [`${name}.svg`]: await renderCast(cast) }
  for (const [file, text] of Object.entries(files)) {
    if (text.length > LARGEST) throw new Error(`${file} has ${text.length} bytes, more than ${LARGEST}`)
    writeFileSync(join(casts, file), text)
    console.log(`docs/casts/${file}: ${Math.round(text.length / 1024)} KB`)
  }
}

const wanted = process.argv.slice(2)
for (const [name, film] of Object.entries(FILMS))
  if (wanted.length === 0 || wanted.includes(name)) await record(name, film)
process.exit()
