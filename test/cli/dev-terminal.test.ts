/** A terminal with `stello dev` in it is closed, or the command is killed: nothing stays behind that the next start does not find. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { loadDevInfo, type DevInfo } from '../../src/dev/dev-info.ts'
import { removeDevHome } from '../../src/dev/dev-servers.ts'
import { findProcesses, isAlive, type ProcessId } from '../../src/dev/processes.ts'
import { builtModule } from '../support/built.ts'
import { CTRL_C, openTerminal, type Terminal } from '../support/terminal.ts'
import { newFolder, stello } from './command.ts'

const AGENT = fileURLToPath(new URL('agent.ts', import.meta.url))
const READY = 'Ctrl-C stops'

let cwd = ''
let agent = ''

beforeEach(async () => {
  cwd = await newFolder()
  agent = join(cwd, 'agent.ts')
  await writeFile(agent, `export { default } from ${JSON.stringify(AGENT)}\n`)
})
afterEach(async () => {
  await stello(['stop'], { cwd })
  await removeDevHome(join(cwd, '.stello'))
})

async function openDev(): Promise<Terminal> {
  const dev = openTerminal([process.execPath, builtModule('src/cli/main.ts'), 'dev'], {
    cwd,
    env: { OPENAI_API_KEY: 'any', TEST_AGENT: 'on-a-terminal' },
  })
  await dev.printed(READY)
  return dev
}

async function devInfo(): Promise<DevInfo> {
  const info = await loadDevInfo(join(cwd, '.stello'))
  if (!info) throw new Error('there is no dev.json')
  return info
}

const serversOf = ({ temporal, postgres }: DevInfo): (ProcessId | undefined)[] => [temporal.process, postgres.process]
const workers = (): ProcessId[] => findProcesses(['worker', agent, '--json'])

it('a terminal that is closed ends the command, its worker and its servers', async () => {
  const dev = await openDev()
  const info = await devInfo()
  const started = [info.holder, ...serversOf(info), ...workers()]
  expect(started.map((one) => one && isAlive(one))).toEqual([true, true, true, true])
  dev.close()
  await expect.poll(() => started.filter((one) => one && isAlive(one))).toEqual([])
})

it('a command that is killed leaves no worker, and the next one goes on with its servers', async () => {
  const killed = await openDev()
  const before = await devInfo()
  process.kill(killed.pid(), 'SIGKILL')
  await killed.ended
  await expect.poll(workers).toEqual([])

  const next = await openDev()
  expect(serversOf(await devInfo())).toEqual(serversOf(before))
  next.press(CTRL_C)
  expect((await next.ended).code).toBe(0)
  expect(serversOf(before).filter((one) => one && isAlive(one))).toEqual([])
})
