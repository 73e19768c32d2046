/** What a closed session has left running ends: on the host of its folder, and only when no other session owns it. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { shell, workspaceRoot, workspaces } from '../../src/capabilities/index.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { obedient, results } from '../seeds/obedient.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()

async function newBase(): Promise<string> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'stello-shells-end-')))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  return base
}

/** Starts a shell in the background. @returns whether its command runs */
async function leavesRunning(session: SessionHandle): Promise<() => boolean> {
  const command = { name: 'Bash', arguments: { command: 'echo "pid $$"; sleep 600', run_in_background: true } }
  const [, task_id] = /as (bash_[0-9a-f]{12})/.exec(String((await results(session, command))[0])) ?? []
  let pid = 0
  await expect
    .poll(async () => {
      const [output] = await results(session, { name: 'TaskOutput', arguments: { task_id, block: false } })
      return (pid ||= Number(/pid (\d+)/.exec(String(output))?.[1] ?? 0))
    })
    .toBeGreaterThan(0)
  onTestFinished(() => void (runs(pid) && process.kill(pid, 'SIGKILL')))
  return () => runs(pid)
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Closes the session. Its workflow ends when all is done. */
async function closed(session: SessionHandle, options?: { cascade?: boolean }): Promise<void> {
  await session.close(options)
  await stello.client.temporal.workflow.getHandle(session.id).result()
}

it('a shell that a fork has started in the folder of its tree goes on until the tree is closed, and ends on its host', async () => {
  const agent = `shells-${randomBytes(4).toString('hex')}`
  const serveOn = async (host: string) => {
    const sandboxManager = { root: workspaceRoot() }
    const packs = [workspaces({ base: await newBase(), host }), shell({ sandboxManager, sandbox: 'off' })]
    return stello.work({ name: agent, llm: scriptedModel(obedient), capabilities: { packs } })
  }
  const first = await serveOn('here')
  const session = await stello.client.createSession({ agent })
  const fork = await session.fork({ label: 'fork' })
  const running = await leavesRunning(fork)
  await serveOn('there')
  await closed(fork)
  expect(running()).toBe(true)
  await closed(session)
  expect(running()).toBe(false)
  await first.stop()
})

it('a shell in the folder of one session ends with it, whether the tree is closed with it or not', async () => {
  const base = await newBase()
  const sandboxManager = { root: ({ sessionId }: { sessionId: string }) => join(base, sessionId) }
  const packs = [shell({ sandboxManager, sandbox: 'off' })]
  const session = await stello.session({ llm: scriptedModel(obedient), capabilities: { packs } })
  const [one, other] = [await session.fork({ label: 'one' }), await session.fork({ label: 'other' })]
  const running = [await leavesRunning(session), await leavesRunning(one), await leavesRunning(other)]
  await closed(one)
  expect(running.map((each) => each())).toEqual([true, false, true])
  await closed(session, { cascade: true })
  await stello.client.temporal.workflow.getHandle(other.id).result()
  expect(running.map((each) => each())).toEqual([false, false, false])
})

it('a session in a folder that others have too leaves its shells to them', async () => {
  const root = join(await newBase(), 'shared')
  const packs = [shell({ sandboxManager: { root }, sandbox: 'off' })]
  const worker = await stello.work({ llm: scriptedModel(obedient), capabilities: { packs } })
  const [one, other] = [
    await stello.client.createSession({ agent: worker.taskQueue }),
    await stello.client.createSession({ agent: worker.taskQueue }),
  ]
  const running = [await leavesRunning(one), await leavesRunning(other)]
  await closed(one)
  expect(running.map((each) => each())).toEqual([true, true])
  await closed(other)
  expect(running.map((each) => each())).toEqual([false, false])
})
