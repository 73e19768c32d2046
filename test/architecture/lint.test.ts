/**
 * Plants imports and habits in a copy of the source folders, and lints the copy with the project's own configuration. A
 * pattern that matches nothing shows nothing. Only a refused violation shows that a rule works.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What two of the folders, and their wings, may import. */
const ACTIVITIES = [
  'agent',
  'capabilities',
  'core',
  'models',
  'permissions',
  'protocol',
  'skills',
  'store',
  'temporal',
  'tool',
]
const CLI = ['agent', 'client', 'core', 'dev', 'doctor', 'http', 'protocol', 'worker', 'worker.ts']

/** Every source folder and what it may import, by value or by type. A folder stands for all its files. */
const ARROWS: Record<string, string[]> = {
  core: [],
  protocol: ['core'],
  tool: ['core'],
  permissions: ['core', 'protocol', 'tool'],
  agent: ['core', 'permissions', 'protocol', 'tool'],
  session: ['core', 'protocol'],
  workflows: ['core', 'protocol', 'session'],
  models: ['agent', 'core', 'tool'],
  'models/wing': ['agent', 'core', 'tool'],
  skills: ['agent', 'core'],
  capabilities: ['agent', 'core', 'tool'],
  'capabilities/set': ['agent', 'core', 'tool'],
  store: ['core', 'protocol'],
  'store/room': ['core', 'protocol'],
  activities: ACTIVITIES,
  'activities/wing': ACTIVITIES,
  worker: ['activities', 'agent', 'core', 'protocol', 'store', 'temporal', 'tool'],
  temporal: ['core', 'protocol'],
  client: ['core', 'dev/dev-info.ts', 'protocol', 'store', 'temporal', 'tool'],
  http: ['client', 'core', 'protocol'],
  cli: CLI,
  'cli/wing': CLI,
  web: ['client', 'core', 'http', 'protocol'],
  'web/wing': ['client', 'core', 'http', 'protocol'],
  dev: ['core', 'protocol'],
  doctor: ['capabilities/sandbox', 'client', 'core', 'dev', 'protocol', 'store', 'temporal'],
  testing: ['core', 'dev', 'models'],
}

/** The entries of the package that lie beside the folders, and what each may import. */
const ENTRIES: Record<string, string[]> = {
  'index.ts': ['agent', 'core', 'models', 'protocol', 'skills', 'tool'],
  'worker.ts': ['core', 'worker'],
}

/** One file of every folder, and the files that some folder may import although their neighbours are refused. */
const TARGETS = [
  ...Object.keys(ARROWS).map((folder) => `${folder}/part.ts`),
  'capabilities/sandbox/bubblewrap.ts',
  'dev/dev-info.ts',
  'index.ts',
  'worker.ts',
]

const KNOW_NO_TEMPORAL = [
  'agent',
  'capabilities',
  'capabilities/set',
  'core',
  'http',
  'models',
  'models/wing',
  'permissions',
  'protocol',
  'session',
  'skills',
  'store',
  'store/room',
  'testing',
  'tool',
  'web',
  'web/wing',
]
const PURE = ['agent', 'core', 'permissions', 'protocol', 'session', 'tool', 'workflows']

/** Packages and modules of Node that are refused in some folders. */
const PACKAGES: [specifier: string, refusedIn: string[]][] = [
  ['zod', ['core', 'protocol', 'session', 'workflows']],
  ['openai', PURE],
  ['pg', Object.keys(ARROWS).filter((folder) => !/^(capabilities|dev|store)/.test(folder))],
  ['node:fs', PURE],
  ['@temporalio/client', [...KNOW_NO_TEMPORAL, 'workflows']],
  ['@temporalio/workflow', KNOW_NO_TEMPORAL],
]

/** A habit, the place where it is planted, and the rule that refuses it. No rule: the habit is allowed there. */
const HABITS: [habit: string, file: string, source: string, rule?: string][] = [
  ['a clock in session', 'src/session/clock.ts', 'export const now: number = Date.now()', 'no-restricted-globals'],
  ['a timer in tool', 'src/tool/timer.ts', 'setTimeout(() => {}, 1)\nexport {}', 'no-restricted-globals'],
  ['the environment in core', 'src/core/env.ts', 'export const e: unknown = process.env', 'no-restricted-globals'],
  ['a clock by a detour', 'src/session/detour.ts', 'export const g: unknown = globalThis', 'no-restricted-globals'],
  ['chance in session', 'src/session/chance.ts', 'export const r: number = Math.random()', 'no-restricted-properties'],
  ['a clock in store', 'src/store/clock.ts', 'export const now: number = Date.now()'],
  ['a package in protocol', 'src/protocol/package.ts', "export { z } from 'ms'", 'no-restricted-imports'],
  ['an import of a neighbour', 'src/agent/neighbour.ts', "export { agent } from './agent.ts'"],
  [
    'a dynamic import against an arrow',
    'src/agent/lazy.ts',
    "export const s: unknown = import('../store/part.ts')",
    'no-restricted-imports',
  ],
  ['a re-export against an arrow', 'src/models/again.ts', "export * from '../store/part.ts'", 'no-restricted-imports'],
  [
    'the other tool set',
    'src/capabilities/set/other-set.ts',
    "export * from '../other/part.ts'",
    'no-restricted-imports',
  ],
  ['a shared room of tool sets', 'src/capabilities/set/sandbox-room.ts', "export * from '../sandbox/part.ts'"],
  ['the own tool set', 'src/capabilities/set/own-set.ts', "export * from './part.ts'"],
  ['a room that the tool sets share', 'src/capabilities/set/shared-room.ts', "export * from '../database/part.ts'"],
  [
    'the room of threads, which the tool sets share',
    'src/capabilities/set/thread-room.ts',
    "export * from '../thread/part.ts'",
  ],
  [
    'a file beside the tool sets',
    'src/capabilities/set/beside.ts',
    "export * from '../part.ts'",
    'no-restricted-imports',
  ],
  ['another wing of the activities', 'src/activities/wing/other-wing.ts', "export * from '../other/part.ts'"],
  ['what all wings share', 'src/activities/wing/shared.ts', "export * from '../part.ts'"],
  ['a tool set composed by its parent', 'src/capabilities/all.ts', "export * from './set/part.ts'"],
  ['a default export', 'src/store/standard.ts', 'export default 1', 'no-default-export'],
  ['a default export of an example', 'examples/agent.ts', 'export default 1'],
  ['any', 'src/store/anything.ts', 'export const x: any = 1', 'no-explicit-any'],
  ['a file name in camel case', 'src/store/camelCase.ts', 'export {}', 'filename-case'],
  ['301 lines of code', 'src/store/long.ts', 'export {}\n'.repeat(301), 'max-lines'],
  ['300 lines of code and comments', 'src/store/not-long.ts', 'export {}\n// why\n\n'.repeat(300)],
  ['a promise nobody awaits', 'src/store/floating.ts', 'Promise.resolve(1)\nexport {}', 'no-floating-promises'],
  [
    'a switch that forgets a case',
    'src/store/forgets.ts',
    "export function f(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n      return\n  }\n}",
    'switch-exhaustiveness-check',
  ],
  [
    'a type imported as a value',
    'src/store/type.ts',
    "import { X } from './x.ts'\nexport type Y = X",
    'consistent-type-imports',
  ],
  ['a cycle', 'src/store/hen.ts', "import { egg } from './egg.ts'\nexport const hen: unknown = () => egg", 'no-cycle'],
  [
    'a cycle of types',
    'src/store/cock.ts',
    "import type { Chick } from './chick.ts'\nexport type Cock = Chick[]",
    'no-cycle',
  ],
  [
    'the other half of a cycle of types',
    'src/store/chick.ts',
    "import type { Cock } from './cock.ts'\nexport interface Chick {\n  of: Cock\n}",
    'no-cycle',
  ],
  [
    'the other half of it',
    'src/store/egg.ts',
    "import { hen } from './hen.ts'\nexport const egg: unknown = () => hen",
    'no-cycle',
  ],
]

interface Diagnostic {
  filename: string
  code: string
  severity: string
  labels: { span: { line: number } }[]
}

const plant = mkdtempSync(join(tmpdir(), 'stello-lint-'))
let refusals: { file: string; line: number; rule: string }[] = []

function write(file: string, source: string): void {
  mkdirSync(dirname(join(plant, file)), { recursive: true })
  writeFileSync(join(plant, file), `${source}\n`)
}

const importer = (folder: string, target: string, kind: string): string =>
  `src/${folder}/${kind}-of-${target.replace(/\W/g, '-')}.ts`
const rulesAgainst = (file: string): string[] =>
  refusals.filter((refusal) => refusal.file === file).map(({ rule }) => rule)
const others = (folder: string): string[] => TARGETS.filter((target) => !target.startsWith(`${folder}/`))
const accepted = (folder: string, kind: string): string[] =>
  others(folder).filter((target) => rulesAgainst(importer(folder, target, kind)).length === 0)
/** An entry has two lines for each of them: it takes values, then types. */
const besides = (entry: string): string[] => TARGETS.filter((target) => target !== entry)
const listed = (folder: string, list: string[]): string[] =>
  others(folder).filter((target) => list.some((entry) => entry === target || target.startsWith(`${entry}/`)))

beforeAll(() => {
  copyFileSync(join(root, '.oxlintrc.json'), join(plant, '.oxlintrc.json'))
  copyFileSync(join(root, 'tsconfig.json'), join(plant, 'tsconfig.json'))
  symlinkSync(join(root, 'node_modules'), join(plant, 'node_modules'))
  for (const folder of Object.keys(ARROWS)) {
    const up = folder.replace(/[^/]+/g, '..')
    for (const target of others(folder)) {
      write(importer(folder, target, 'value'), `export { x } from '${up}/${target}'`)
      write(importer(folder, target, 'type'), `export type { X } from '${up}/${target}'`)
    }
    for (const [specifier] of PACKAGES) write(importer(folder, specifier, 'value'), `export { x } from '${specifier}'`)
  }
  for (const entry of Object.keys(ENTRIES)) {
    const exports = besides(entry).flatMap((target) => [
      `export { x } from './${target}'`,
      `export type { X } from './${target}'`,
    ])
    write(`src/${entry}`, exports.join('\n'))
  }
  for (const [, file, source] of HABITS) write(file, source)
  const oxlint = spawnSync(
    process.execPath,
    [join(root, 'node_modules/oxlint/bin/oxlint'), '--type-aware', '--format', 'json', 'src', 'examples'],
    { cwd: plant, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  )
  const report = JSON.parse(oxlint.stdout) as { diagnostics: Diagnostic[] }
  refusals = report.diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ filename, code, labels }) => ({
      file: filename,
      line: labels[0]?.span.line ?? 0,
      rule: /\(([^)]+)\)/.exec(code)?.[1] ?? code,
    }))
})

afterAll(() => rmSync(plant, { recursive: true, force: true }))

describe('the arrows between source folders', () => {
  it('are stated for every folder there is', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(Object.keys(ARROWS)).toEqual(expect.arrayContaining(folders.map(({ name }) => name)))
  })

  it.each(Object.entries(ARROWS))('%s takes values from its own list and nothing else', (folder, allowed) => {
    expect(accepted(folder, 'value')).toEqual(listed(folder, allowed))
  })

  it.each(Object.entries(ARROWS))('%s takes types from its own list and nothing else', (folder, allowed) => {
    expect(accepted(folder, 'type')).toEqual(listed(folder, allowed))
  })

  it.each(Object.entries(ENTRIES))('%s takes from its own list and nothing else', (entry, allowed) => {
    const refused = refusals
      .filter(({ file, rule }) => file === `src/${entry}` && rule === 'no-restricted-imports')
      .map(({ line }) => line)
    const forbidden = besides(entry).flatMap((target, index) =>
      allowed.some((folder) => target.startsWith(`${folder}/`)) ? [] : [2 * index + 1, 2 * index + 2],
    )
    expect(refused.toSorted((a, b) => a - b)).toEqual(forbidden)
  })

  it.each(PACKAGES)('%s is refused where it must not be, and only there', (specifier, refusedIn) => {
    const refused = Object.keys(ARROWS).filter(
      (folder) => rulesAgainst(importer(folder, specifier, 'value')).length > 0,
    )
    expect(refused.toSorted()).toEqual(refusedIn.toSorted())
  })
})

describe('the habits', () => {
  it.each(HABITS.filter(([, , , rule]) => rule))('%s is refused', (_, file, _source, rule) => {
    expect(rulesAgainst(file)).toContain(rule)
  })

  it.each(HABITS.filter(([, , , rule]) => !rule))('%s is accepted', (_, file) => {
    expect(rulesAgainst(file)).toEqual([])
  })
})
