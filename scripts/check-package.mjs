#!/usr/bin/env node
/**
 * Tries the package as a user gets it: packed, installed into an empty folder, imported by plain Node. Needs `dist/`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** What other programs rely on. */
const EXPORTS = {
  'stello-temporal': [
    'createStelloAgent',
    'tool',
    'toTool',
    'openai',
    'createClaude',
    'aiSdk',
    'ToolRegistryImpl',
    'SkillRouterImpl',
    'ForkProfileRegistryImpl',
    'loadSkillsFromDirectory',
    'buildSessionToolList',
    'StelloError',
    'isStelloError',
  ],
  'stello-temporal/client': ['connectStello', 'StelloError', 'isStelloError'],
  'stello-temporal/worker': ['startWorker'],
  'stello-temporal/http': ['createHttpApp', 'serveHttp'],
  'stello-temporal/capabilities': ['filesystem'],
  'stello-temporal/testing': ['scriptedModel', 'startFakeOpenAI', 'startFakeAnthropic'],
}

/** Compressed bytes of script before the page shows something. */
const FIRST_VIEW_LIMIT = 200 * 1024

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => join(root, 'node_modules/.bin', name)

function run(command, args, cwd) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function step(what, work) {
  const detail = work()
  console.log(`ok  ${what}${detail ? `: ${detail}` : ''}`)
}

/**
 * The script that the browser loads before it shows the first view: the files that the HTML names, and the files that
 * these import at once.
 */
function firstScripts(page) {
  const html = readFileSync(join(page, 'index.html'), 'utf8')
  if (/<script(?![^>]* src=)/.test(html)) throw new Error('the page has a script of its own: its policy refuses that')
  const wanted = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="(\.[^"]+\.js)"/g)].map(([, file]) =>
    join(page, file),
  )
  for (const file of wanted) {
    const imported = [...readFileSync(file, 'utf8').matchAll(/\bfrom\s*["'](\.[^"']+\.js)["']/g)]
    for (const [, other] of imported) {
      const found = join(dirname(file), other)
      if (!wanted.includes(found)) wanted.push(found)
    }
  }
  return wanted
}

/** Runs in a process of the installed copy, so that nothing of this checkout is found by accident. */
function importer(entry, names) {
  return `import * as entry from '${entry}'
const missing = ${JSON.stringify(names)}.filter((name) => !(name in entry))
if (missing.length > 0) throw new Error('${entry} does not export ' + missing.join(', '))
if ('default' in entry) throw new Error('${entry} has a default export')
process.stdout.write(String(Object.keys(entry).length))
`
}

const BLOCKED = `import { startWatchdog } from './node_modules/stello-temporal/dist/worker/watchdog.js'
startWatchdog(1000, console.error).begun('step', 'poison')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
`

const LOADED = `import { loadAgent } from './node_modules/stello-temporal/dist/cli/serve/load-agent.js'
const { name, tools } = await loadAgent(process.argv[2])
process.stdout.write(name + ' with ' + [...tools.keys()])
`

/** What only some agents need is not there, and the error of the first call says how it comes. */
const WITHOUT_PEERS = `import { createClaude } from 'stello-temporal'
const asking = createClaude({ model: 'claude-x', apiKey: 'no-key' }).complete([{ role: 'user', content: 'Hi' }])
const error = await asking.catch((thrown) => thrown)
if (error.code !== 'MODEL_REFUSED_REQUEST' || !error.hint.includes('npm install @anthropic-ai/sdk')) throw error
process.stdout.write(error.message)
`

if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')

const folder = mkdtempSync(join(tmpdir(), 'stello-package-'))
try {
  let tarball = ''
  step('npm pack', () => {
    const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], root))
    tarball = join(folder, packed.filename)
    return `${packed.entryCount} files, ${Math.round(packed.size / 1024)} KB`
  })
  step('publint', () => run(bin('publint'), ['run', tarball, '--strict'], root).trim().split('\n').at(-1))
  step('are the types wrong', () => {
    run(bin('attw'), [tarball, '--profile', 'esm-only', '--no-emoji', '--format', 'ascii'], root)
    return 'no'
  })
  step('npm install of the tarball', () => {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }))
    run('npm', ['install', tarball, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error'], folder)
  })
  step('every link of its documents leads somewhere', () => {
    const home = join(folder, 'node_modules/stello-temporal')
    const documents = ['.', 'docs'].flatMap((place) =>
      readdirSync(join(home, place))
        .filter((name) => name.endsWith('.md'))
        .map((name) => join(place, name)),
    )
    const links = documents.flatMap((file) =>
      [...readFileSync(join(home, file), 'utf8').matchAll(/\]\(([^)#]+)/g)].map(([, link]) => ({ file, link })),
    )
    const dead = links.filter(
      ({ file, link }) => !link.startsWith('https://') && !existsSync(join(home, dirname(file), link)),
    )
    if (dead.length > 0)
      throw new Error(`the package has not: ${dead.map(({ file, link }) => `${link} (${file})`).join(', ')}`)
    return `${links.length} links in ${documents.length} documents`
  })
  step('an example serves as it is in the package', () => {
    const example = join(folder, 'node_modules/stello-temporal/examples/features/tool.ts')
    const file = join(folder, 'example.mjs')
    writeFileSync(file, LOADED)
    return run(process.execPath, [file, example], folder)
  })
  for (const [entry, names] of Object.entries(EXPORTS)) {
    step(`import '${entry}'`, () => {
      const file = join(folder, `${entry.replace('/', '-')}.mjs`)
      writeFileSync(file, importer(entry, names))
      return `${run(process.execPath, [file], folder)} exports`
    })
  }
  step('the page', () => {
    const files = firstScripts(join(folder, 'node_modules/stello-temporal/dist/web'))
    if (files.length === 0) throw new Error('dist/web/index.html names no script')
    const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0)
    if (bytes > FIRST_VIEW_LIMIT) throw new Error(`its first view loads ${bytes} bytes of script, compressed`)
    return `${Math.round(bytes / 1024)} KB of script, compressed, for the first view`
  })
  step('a model without its package', () => {
    for (const peer of Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).peerDependencies)) {
      if (existsSync(join(folder, 'node_modules', peer)))
        throw new Error(`${peer} was installed, though it is optional`)
    }
    const file = join(folder, 'without-peers.mjs')
    writeFileSync(file, WITHOUT_PEERS)
    return run(process.execPath, [file], folder)
  })
  // Its thread imports no module, so none can be missing.
  step('the watchdog ends a process that blocks', () => {
    const file = join(folder, 'blocked.mjs')
    writeFileSync(file, BLOCKED)
    const { signal, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', timeout: 60_000 })
    if (signal !== 'SIGKILL' || !stderr.includes('"poison"')) throw new Error(`it ended by ${signal}: ${stderr}`)
    return signal
  })
  step('npx stello --version', () => run('npx', ['--no-install', 'stello', '--version'], folder).trim())
  step(
    'npx stello --help',
    () => `${run('npx', ['--no-install', 'stello', '--help'], folder).split('\n').length} lines`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
