/** `stello dev` in an empty folder: it starts everything that a session needs, and leaves nothing running. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadDevInfo, type DevInfo } from '../../src/dev/dev-info.ts'
import { removeDevHome } from '../../src/dev/dev-servers.ts'
import { hasArguments, isAlive } from '../../src/dev/processes.ts'
import { startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'
import { startDoors, type Doors } from '../support/crashing.ts'
import { quietPort } from '../support/quiet-port.ts'
import { newFolder, start, stello, stelloJson, type Running } from './command.ts'
import { AGENT } from './served.ts'

let cwd = ''
let model: FakeOpenAI
let doors: Doors
let dev: Running | undefined

beforeAll(async () => {
  cwd = await newFolder()
  model = await startFakeOpenAI({
    script: ({ messages }) => {
      const said = messages.at(-1)?.content
      return said === 'knock' ? { toolCalls: [{ name: 'knock', arguments: {} }] } : `You said: ${said}`
    },
  })
  doors = await startDoors()
})
afterAll(async () => {
  dev?.kill('SIGKILL')
  await dev?.ended
  await removeDevHome(join(cwd, '.stello'))
  await model.close()
  await doors.close()
})

const json = (...args: string[]): Promise<Record<string, unknown>[]> => stelloJson(args, { cwd })

async function startDev(...options: string[]): Promise<Record<string, unknown>> {
  const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'any', TEST_DOORS: doors.url }
  dev = start(['dev', AGENT, '--json', ...options], { cwd, env })
  return dev.line()
}

async function devInfo(): Promise<DevInfo> {
  const info = await loadDevInfo(join(cwd, '.stello'))
  if (!info) throw new Error('there is no dev.json')
  return info
}

function serversAlive({ temporal, postgres }: DevInfo): boolean[] {
  return [temporal, postgres].map((server) => server.process !== undefined && isAlive(server.process))
}

describe('stello dev', () => {
  it('starts servers and a worker; commands in the folder find them without any variable', async () => {
    // Nobody takes it by chance while `stello dev` is stopped.
    const pagePort = await quietPort()
    expect(await startDev('--page-port', String(pagePort))).toMatchObject({
      ready: true,
      agent: 'cli-test',
      home: join(cwd, '.stello'),
      temporal: { uiUrl: expect.stringMatching(/^http/) },
      page: `http://127.0.0.1:${pagePort}`,
    })
    expect(serversAlive(await devInfo())).toEqual([true, true])
    expect(await json('start', 'cli-test', '--id', 'first', '--message', 'hello', '--wait')).toMatchObject([
      { text: 'You said: hello' },
    ])
  })

  it('lets doctor end with 0; each finding is one line', async () => {
    const findings = await json('doctor')
    expect(findings.map((finding) => finding['name'])).toEqual(
      expect.arrayContaining(['Node', 'Temporal', 'Search attributes', 'PostgreSQL', 'Schema', 'Disk']),
    )
    expect(findings.filter((finding) => finding['ok'] !== true)).toEqual([])
    const { stdout } = await stello(['doctor'], { cwd })
    expect(stdout).toMatch(/^✓ Temporal: server /m)
    expect(stdout).not.toContain(new URL((await devInfo()).postgres.url).password)
  })

  it('stops worker and servers on Ctrl-C and ends with 0; commands then say that nothing answers', async () => {
    const info = await devInfo()
    dev?.kill('SIGINT')
    expect(await dev?.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('finishing what runs') })
    expect(serversAlive(info)).toEqual([false, false])
    const { code, stderr } = await stello(['list'], { cwd })
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/PostgreSQL at .*\n.*stello dev/) })
  })

  it('goes on with the earlier sessions when it is started again, and serves the page at the same address', async () => {
    const before = (await devInfo()).page?.url
    const { page } = await startDev()
    expect(page).toBe(before)
    expect(await (await fetch(`${before}/api/agents`)).json()).toEqual([
      { name: 'cli-test', served: true, profiles: ['short'] },
    ])
    expect(await json('list')).toMatchObject([{ id: 'first', state: 'idle' }])
    expect(await json('send', 'first', 'again', '--wait')).toMatchObject([{ text: 'You said: again' }])
    expect(await json('transcript', 'first')).toHaveLength(4)
  })

  it('lets a running tool end when it is asked to stop, and stores its result before the servers go', async () => {
    const door = doors.hold()
    await json('send', 'first', 'knock', '--message-id', 'knock')
    await doors.knocked(1)
    const info = await devInfo()
    dev?.kill('SIGINT')
    await dev?.printed('finishing what runs')
    // In this time, servers that do not wait for the worker would be gone.
    await delay(2000)
    door.open()
    expect((await dev?.ended)?.code).toBe(0)
    expect(serversAlive(info)).toEqual([false, false])

    await startDev('--durable')
    expect(await json('send', 'first', 'knock', '--message-id', 'knock', '--wait')).toMatchObject([
      { text: 'You said: knock done' },
    ])
    expect(doors.knocks).toHaveLength(1)
  })

  it('with --durable lets Temporal wait for the disk', async () => {
    const { temporal } = await devInfo()
    expect(hasArguments(temporal.process?.pid ?? 0, ['--sqlite-pragma=synchronous=FULL'])).toBe(true)
  })

  it('refuses --fresh while another process holds the servers, and these go on', async () => {
    const { code, stderr } = await stello(['dev', '--fresh'], { cwd })
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`process ${dev?.pid} uses the servers`),
    })
    expect(serversAlive(await devInfo())).toEqual([true, true])
    dev?.kill('SIGTERM')
    expect((await dev?.ended)?.code).toBe(0)
  })
})

describe.each([['server'], ['dev']])('stello %s without an agent', (command) => {
  it('serves until Ctrl-C, although only its servers have something to do', async () => {
    const folder = await newFolder()
    const server = start([command], { cwd: folder })
    await server.printed('Ctrl-C stops')
    // Without work, it would have ended before this command ends.
    expect((await stello(['list'], { cwd: folder })).code).toBe(0)
    const info = await loadDevInfo(join(folder, '.stello'))
    server.kill('SIGINT')
    expect(await server.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('stopping the servers') })
    expect(info && serversAlive(info)).toEqual([false, false])
    await removeDevHome(join(folder, '.stello'))
  })
})

describe('stello server', () => {
  it('stops servers that are still starting when Ctrl-C comes early', async () => {
    const folder = await newFolder()
    const server = start(['server', '--json'], { cwd: folder })
    await server.printed('starting Temporal')
    server.kill('SIGINT')
    expect((await server.ended).code).toBe(0)
    const info = await loadDevInfo(join(folder, '.stello'))
    expect(info && serversAlive(info)).toEqual([false, false])
    await removeDevHome(join(folder, '.stello'))
  })
})
