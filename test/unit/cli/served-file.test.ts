/** Workers below `stello dev`, played by a small script: what the user's code may do to them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serveFile, type ServedFile } from '../../../src/cli/serve/served-file.ts'

/** Runs the file, as a worker loads its agent, and then says that it serves. */
const WORKER = `
  import { appendFileSync } from 'node:fs'
  const file = process.argv[3]
  await import('file://' + file)
  appendFileSync(file + '.log', 'begun ')
  const end = () => { appendFileSync(file + '.log', 'ended '); process.exit() }
  process.on('SIGTERM', end)
  process.on('disconnect', end)
  console.log(JSON.stringify({ ready: true, agent: 'played' }))
  setInterval(() => {}, 1000)
`
const [main] = process.argv.splice(1, 1)
let folder = ''
let served: ServedFile | undefined
const said: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stello-served-'))
  await writeFile(join(folder, 'worker.mjs'), WORKER)
  process.argv.splice(1, 0, join(folder, 'worker.mjs'))
})
afterAll(async () => {
  await served?.stop()
  process.argv.splice(1, 1, main ?? '')
  await rm(folder, { recursive: true })
})

const file = (): string => join(folder, 'agent.mjs')
const log = (): Promise<string> => readFile(`${file()}.log`, 'utf8')
async function serve(text: string, over: { alone?: boolean; withinMs?: number } = {}): Promise<ServedFile> {
  await writeFile(file(), text)
  await writeFile(`${file()}.log`, '')
  said.length = 0
  const env = (): NodeJS.ProcessEnv => process.env
  return (served = await serveFile({ file: file(), options: [], env, say: (line) => void said.push(line), ...over }))
}

it('a module may print: its output is passed on, and the worker is ready when it says so', async () => {
  const { agent } = await serve('console.log("loading"); console.log(JSON.stringify({ mine: 1 }))')
  expect(agent).toBe('played')
  expect(said).toEqual(['loading', '{"mine":1}'])
  await served?.stop()
})

it('a module that never ends loading is given up, and so is a start when everything stops', async () => {
  await serve('', { withinMs: 5000 })
  await writeFile(file(), 'for (;;);')
  await served?.renew()
  expect(said.join('\n')).toMatch(/does not serve after 5 s\n +the earlier version goes on/)
  await writeFile(
    file(),
    `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(`${file()}.log`)}, 'loading '); for (;;);`,
  )
  const renewing = served?.renew()
  await expect.poll(log, { timeout: 60_000 }).toBe('begun loading ')
  await served?.stop()
  await renewing
  expect(await log()).toBe('begun loading ended ')
})

it('saves that come faster than workers start lead to one more worker', async () => {
  const { renew } = await serve('')
  await Promise.all(Array.from({ length: 20 }, () => renew()))
  expect((await log()).match(/begun/g)).toHaveLength(2)
  await served?.stop()
})

it('a worker that has a port ends before the next one begins', async () => {
  await serve('', { alone: true })
  await served?.renew()
  expect(await log()).toBe('begun ended begun ')
  expect(said).toEqual(['serves "played" anew'])
  await served?.stop()
})

it('a worker that dies is started again, until five have died since the last save', async () => {
  await serve('setTimeout(() => process.kill(process.pid, "SIGKILL"), 100)')
  await expect
    .poll(() => said.at(-1), { timeout: 60_000 })
    .toBe('the worker of "played" has ended; it is started again after a save')
  expect(said.filter((line) => line.endsWith('another is started'))).toHaveLength(4)
  expect(await log()).toBe('begun '.repeat(5))
  await writeFile(file(), 'throw new Error("mine")')
  await served?.renew()
  expect(said.join('\n')).toMatch(/mine[^]*nothing serves "played" now/)
  await writeFile(file(), '')
  await served?.renew()
  expect(said.at(-1)).toBe('serves "played" anew')
  await served?.stop()
})
