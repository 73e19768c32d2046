/** The shell in sessions: folder and shells outlive a worker, and rules see what a command would touch. */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { shell } from '../../src/capabilities/index.ts'
import { defineProfile } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { obedient, results } from '../seeds/obedient.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()

it('keeps its folder and its shells in the background over a change of workers', async () => {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'stello-shell-sessions-')))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  const coder = () =>
    defineProfile({
      id: `shell-${process.pid}-${base.slice(-6)}`,
      agent: { model: scriptedModel(obedient) },
      capabilities: [shell({ sandboxManager: { root: ({ sessionId }) => join(base, sessionId) } })],
    })
  const worker = await stello.serve(coder())
  const session = await stello.client.createSession({ agent: coder().name })
  const bash = async (command: string, more = {}): Promise<string> => {
    const [result] = await results(session, { name: 'Bash', arguments: { command, ...more } })
    return String(result)
  }
  expect(await bash('mkdir -p src && cd src && pwd')).toBe(join(base, session.id, 'src'))
  const started = await bash('until [ -e ../go ]; do sleep 0.05; done; echo done', { run_in_background: true })
  const [task_id] = /bash_[0-9a-f]{12}/.exec(started) ?? []
  expect(task_id).toBeDefined()
  await worker.stop()

  await stello.serve(coder())
  expect(await bash('pwd; touch ../go')).toBe(join(base, session.id, 'src'))
  expect(await results(session, { name: 'TaskOutput', arguments: { task_id } })).toEqual([
    '<status>completed</status>\n<exit_code>0</exit_code>\n<output>\ndone\n</output>',
  ])
  expect(await results(session, { name: 'TaskOutput', arguments: { task_id } })).toEqual([
    expect.stringContaining('<output>\n\n</output>'),
  ])
  expect(await bash('exit 3')).toContain('Exit code 3')
})
