/**
 * The documents agree with the code: everything that they link to and name exists, and the README's programs are valid.
 */
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { StelloAgent } from '../../src/agent/agent.ts'
import { AGENT_TEMPLATE } from '../../src/cli/create/agent-template.ts'
import { loadAgent } from '../../src/cli/serve/load-agent.ts'
import { addCompletionCommands } from '../../src/cli/commands/completion-command.ts'
import { addDevCommands } from '../../src/cli/commands/dev-command.ts'
import { addRunCommands } from '../../src/cli/commands/run-commands.ts'
import { addSessionCommands } from '../../src/cli/commands/session-commands.ts'
import { replyBy, startFakeOpenAI } from '../../src/testing/index.ts'
import { NOT_INSTALLED, programsOf } from '../support/doc-programs.ts'
import { ask, useStello } from '../support/session-fixture.ts'

const sessions = useStello()
const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DOCUMENTS = ['.', 'docs'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
)
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
/** The first group of each match, each once. */
const all = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? '')),
]

describe.each(DOCUMENTS)('%s', (file) => {
  const text = read(file)

  it('links only to files and headings that exist', () => {
    const broken = all(text, /\]\(([^)]+)\)/g).filter((link) => {
      if (/^https?:/.test(link)) return false
      const [path = '', heading] = link.split('#')
      const target = path === '' ? file : join(dirname(file), path)
      return !existsSync(join(ROOT, target)) || (heading !== undefined && !headings(read(target)).includes(heading))
    })
    expect(broken).toEqual([])
  })

  it('names only files and folders that exist', () => {
    const named = all(
      text,
      /`((?:src|test|docs|examples|scripts|deploy|\.ci)\/[\w./-]*|[\w-]+\.yml|\.[\w-]+\.(?:json|example))`/g,
    )
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  it('names only scripts that package.json has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    expect(all(text, /npm run ([\w:-]+)/g).filter((script) => !(script in scripts))).toEqual([])
  })

  it('shows only commands and options that `stello` has', () => {
    const commands = new Map(stello().commands.map((command) => [command.name(), command]))
    const shown = [...text.matchAll(/(?:^|`|npx )stello ([a-z]+)([^\n#`]*)/gm)]
    const unknown = shown.flatMap(([, name = '', rest = '']) => {
      const command = commands.get(name)
      if (!command) return [name]
      const options = ['--json', ...command.options.map((option) => option.long)]
      return all(rest, /(?:^| )(--[a-z-]+)/g)
        .filter((option) => !options.includes(option))
        .map((option) => `${name} ${option}`)
    })
    expect(unknown).toEqual([])
  })
})

it('docs/cli.md describes every command and every option', () => {
  const text = read('docs/cli.md')
  const missing = stello().commands.flatMap((command) => [
    ...(headings(text).some((heading) => heading.includes(`stello-${command.name()}`)) ? [] : [command.name()]),
    ...command.options
      .filter((option) => !text.includes(option.long ?? ''))
      .map((option) => `${command.name()} ${option.long}`),
  ])
  expect(missing).toEqual([])
})

describe('the programs of the README', () => {
  const project = mkdtempSync(join(tmpdir(), 'stello-readme-'))
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(project, file)), { recursive: true })
    writeFileSync(join(project, file), text)
  }
  /** A project that has the package installed: its sources, by the names its users import. */
  beforeAll(() => {
    symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'))
    write('package.json', JSON.stringify({ type: 'module' }))
    write('tsconfig.json', JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), include: ['**/*.ts'] }))
    write('template.ts', AGENT_TEMPLATE)
    write('elsewhere.d.ts', NOT_INSTALLED)
    for (const document of DOCUMENTS)
      for (const { file, text } of programsOf(read(document))) write(join(basename(document, '.md'), file), text)
  })
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  it('pass the type check, as does every block of TypeScript in the documents, and what `stello init` writes', async () => {
    const checked = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project]).catch(
      (error: { stdout: string }) => error,
    )
    expect(checked.stdout).toBe('')
  })

  it('of docs/tools.md make the tools they name', async () => {
    const { agent: definition, assistant } = (await import(join(project, 'tools/program-1.ts'))) as Record<
      string,
      StelloAgent
    >
    expect([...(definition?.tools.keys() ?? [])]).toEqual([
      'Deploy',
      'transfer_funds',
      'SearchDocs',
      'ping',
      'calculator',
      'shell',
      'get_weather',
      'database_query',
    ])
    expect([...(assistant?.tools.keys() ?? [])]).toEqual(['transfer_funds', 'ping', 'SearchDocs'])
  })

  it('of docs/tools.md run in a session, each tool called once', async () => {
    const { agent: definition } = (await import(join(project, 'tools/program-1.ts'))) as { agent: StelloAgent }
    vi.stubGlobal('bank', { balance: async () => 10, send: async () => undefined })
    vi.stubGlobal('stations', { cities: async () => ['Oslo'], forecast: async () => ({ degrees: 3 }) })
    const database = { tables: async () => ['users'], rows: async () => [], close: async () => undefined }
    vi.stubGlobal('databases', { connect: async () => database })
    const toolCalls = [
      { name: 'Deploy', arguments: { environment: 'staging', version: '1' } },
      { name: 'transfer_funds', arguments: { from: 'a', amount: 20 } },
      { name: 'transfer_funds', arguments: { from: 'a', amount: 5 } },
      { name: 'SearchDocs', arguments: { query: 'x' } },
      { name: 'ping' },
      { name: 'calculator', arguments: { terms: '[1, 2]' } },
      { name: 'shell', arguments: { program: 'echo', args: ['hello'] } },
      { name: 'get_weather', arguments: { city: 'Oslo' } },
      { name: 'database_query', arguments: { table: 'users' } },
    ]
    const fake = await startFakeOpenAI({
      script: replyBy([
        ['go', { toolCalls }],
        [() => true, 'done'],
      ]),
    })
    vi.stubEnv('OPENAI_BASE_URL', fake.url)
    onTestFinished(async () => {
      vi.unstubAllGlobals()
      vi.unstubAllEnvs()
      await fake.close()
    })
    await sessions.serve(definition)
    const session = await sessions.client.createSession({ agent: definition.name, label: 'main' })
    expect(await ask(session, 'go')).toBe('done')
    const results = (await session.transcript()).filter(({ role }) => role === 'tool')
    expect(results.map(({ content }) => content)).toEqual([
      '{"environment":"staging","version":"1"}',
      'Tool precondition failed: Insufficient funds',
      'Transfer complete.',
      '{"query":"x","hits":[]}',
      'pong',
      '3',
      'hello\n',
      '{"degrees":3}',
      '[]',
    ])
  })

  it('hold an agent that a worker can serve, by the name that the README starts', async () => {
    const { name, tools } = await loadAgent(join(project, 'README/1/agent.ts'))
    expect([...tools.keys()]).toEqual(['read_notes'])
    expect(read('README.md')).toContain(`npx stello start ${name} `)
  })
})

function stello(): Command {
  const program = new Command('stello')
  addDevCommands(program)
  addRunCommands(program)
  addSessionCommands(program)
  addCompletionCommands(program)
  return program
}

/** As GitHub names them in links. */
function headings(text: string): string[] {
  return all(text, /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
}
