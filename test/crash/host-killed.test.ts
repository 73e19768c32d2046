/** The worker of a host gets SIGKILL in the middle of a call in a working folder. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { replyBy, type FullReply } from '../../src/testing/index.ts'
import { useFreshStage } from '../support/crash-stage.ts'
import { ask } from '../support/session-fixture.ts'
import type { WorkerProcess } from '../support/crashing.ts'

const call = (name: string, args: object): FullReply => ({ toolCalls: [{ name, arguments: args }] })
const stage = useFreshStage({
  script: replyBy([
    ['write', call('Write', { file_path: 'a.txt', content: 'one' })],
    ['read', call('Read', { file_path: 'a.txt' })],
    ['build', call('build', {})],
    [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
  ]),
})

let base: string
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'stello-hosts-'))
  return () => rm(base, { recursive: true })
})

const startOn = (host: string): Promise<WorkerProcess> =>
  stage.startWorker({ workspaces: { base: join(base, host), host, lostAfter: '2s' } })

it('for good: the call is never run again, the model reads that the folder is lost, and goes on in a new one', async () => {
  const first = await startOn('gone')
  const session = await stage.session()
  expect(await ask(session, 'write')).toContain('has been written')
  const turn = await session.send('build')
  await stage.door.reached(1)
  await startOn('other')
  await first.kill()
  expect((await turn.result()).text).toMatch(
    /^read: TOOL_WORKSPACE_LOST: the host of the working folder is gone.*"build" had begun there/,
  )
  expect(stage.door.arrived).toBe(1)
  expect(await ask(session, 'read')).toContain('File not found: a.txt')
  expect(await ask(session, 'write')).toContain('has been written')
  const file = (host: string, generation: number): string =>
    join(base, host, session.id, String(generation), 'files/a.txt')
  expect(await readFile(file('other', 2), 'utf8')).toBe('one')
  expect(existsSync(file('gone', 1))).toBe(true)
})

it('and is started again: the call waits for it, and its outcome is unknown, as on a single host', async () => {
  const first = await startOn('restarted')
  const session = await stage.session()
  await ask(session, 'write')
  const turn = await session.send('build')
  await stage.door.reached(1)
  await first.kill()
  await startOn('restarted')
  expect((await turn.result()).text).toMatch(/^read: TOOL_OUTCOME_UNKNOWN/)
  expect(stage.door.arrived).toBe(1)
  expect(await ask(session, 'read')).toContain('1→one')
})
