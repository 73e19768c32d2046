/**
 * The loop of a developer: an agent file in a package as `npm init -y` makes it. It is served, changed, and stopped
 * from another folder.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadDevInfo } from '../../src/dev/dev-info.ts'
import { removeDevHome } from '../../src/dev/dev-servers.ts'
import { isAlive } from '../../src/dev/processes.ts'
import { startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'
import { builtModule } from '../support/built.ts'
import { newFolder, start, stello, stelloJson, type Running } from './command.ts'

const API = builtModule('src/index.ts')

let cwd = ''
let model: FakeOpenAI
let dev: Running

/** The prompt is read from `.env`. The model answers with its prompt. */
const agent = (prompt: string): string => `import { createStelloAgent, openai } from ${JSON.stringify(API)}
const prompt: string = await Promise.resolve(${JSON.stringify(prompt)})
export default createStelloAgent({
  name: 'looped', llm: openai({ model: 'any' }), systemPrompt: \`\${prompt} \${process.env.GREETING}\`,
})
`
const save = (prompt: string): Promise<void> => writeFile(join(cwd, 'agent.ts'), agent(prompt))

beforeAll(async () => {
  cwd = await newFolder()
  model = await startFakeOpenAI({ script: ({ messages }) => messages[0]?.content ?? '' })
  await writeFile(join(cwd, 'package.json'), '{ "name": "mine", "main": "index.js" }')
  await writeFile(join(cwd, '.env'), 'GREETING=hello\nOPENAI_API_KEY=any\n')
  await save('first')
  dev = start(['dev'], { cwd, env: { OPENAI_BASE_URL: model.url } })
  await dev.printed('Ctrl-C stops')
})
afterAll(async () => {
  dev.kill('SIGKILL')
  await dev.ended
  await removeDevHome(join(cwd, '.stello'))
  await model.close()
})

async function answer(): Promise<unknown> {
  const [line] = await stelloJson(['start', 'looped', '--message', 'say it', '--wait'], { cwd })
  return line?.['text']
}

it('finds agent.ts in a CommonJS package, reads .env, and prints a line for each thing that happens', async () => {
  expect(await answer()).toBe('first hello')
  expect(await dev.printed('turn.completed')).toMatch(/turn\.started +say it/)
  expect(await readFile(join(cwd, '.stello', '.gitignore'), 'utf8')).toBe('*\n')
})

it('serves what was saved; a file that throws is reported with its line, and the old version goes on', async () => {
  await save('second')
  await dev.printed('serves "looped" anew')
  expect(await answer()).toBe('second hello')
  await writeFile(join(cwd, 'agent.ts'), `${agent('third')}\nthrow new Error('mine')\n`)
  const printed = await dev.printed('the earlier version goes on')
  expect(printed).toMatch(/agent\.ts cannot be loaded: mine \(agent\.ts:7:\d+\)\n/)
  expect(printed).not.toMatch(/data:|%20|\?namespace/)
  expect(await answer()).toBe('second hello')
})

it('is found, and stopped, from a folder below', async () => {
  const below = join(cwd, 'below')
  await mkdir(below)
  expect(await stelloJson(['list'], { cwd: below })).toHaveLength(3)
  const info = await loadDevInfo(join(cwd, '.stello'))
  expect(await stelloJson(['stop'], { cwd: below })).toEqual([{ stopped: true }])
  expect((await dev.ended).code).toBe(0)
  const servers = [info?.temporal.process, info?.postgres.process]
  expect(servers.map((server) => server && isAlive(server))).toEqual([false, false])
  expect(await stelloJson(['stop'], { cwd: below })).toEqual([{ stopped: false }])
})

it('ends its workers even if it is killed itself', async () => {
  await save('fourth')
  dev = start(['dev', '--json'], { cwd, env: { OPENAI_BASE_URL: model.url } })
  expect(await dev.line()).toMatchObject({ ready: true, agents: ['looped'] })
  dev.kill('SIGKILL')
  await dev.ended
  await expect
    .poll(async () => (await stello(['start', 'looped'], { cwd })).stderr)
    .toMatch(/no worker serves agent "looped"/)
})
