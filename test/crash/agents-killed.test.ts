/** Workers that are killed while a session waits for its agents, and while an agent is made. */
import { afterEach, expect, it } from 'vitest'
import type { ScriptFunction } from '../../src/testing/index.ts'
import { useCrashStage } from '../support/crash-stage.ts'

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] })

/** `lead` spawns an agent and waits for it. The agent looks around, and says that it has looked. */
const script: ScriptFunction = ({ messages }) => {
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
  if (messages.find(({ role }) => role === 'user')?.content !== 'lead') {
    return results.length === 0 ? call('look', { tag: '#agent' }) : 'I have looked'
  }
  const [spawned, waited] = results
  if (spawned === undefined) return call('spawn-agent', { message: 'look' })
  if (waited === undefined)
    return call('wait-agent', { agentIds: [(JSON.parse(spawned) as { agentId: string }).agentId] })
  return waited
}

const stage = useCrashStage({ script })
afterEach(() => stage.killWorkers())

it('a session still waits after every worker has died, and hears the answer of its agent, which was in a call', async () => {
  const looks = stage.doors.hold(({ tool }) => tool === 'look')
  const worker = await stage.startWorker({ agents: true })
  const session = await stage.session()
  const turn = await session.send('lead')
  await looks.reached()
  await expect.poll(async () => (await session.state()).state).toBe('waiting')
  await worker.kill()
  looks.open()
  await stage.startWorker({ agents: true })
  expect((await turn.result()).text).toContain('I have looked')
  expect((await session.tree()).children).toHaveLength(1)
})

it.each([
  ['before the call is stored', 'lost'],
  ['when the call is stored and nobody was told', 'kept'],
] as const)(
  'a worker dies %s that has spawned an agent: there is one agent, and it is asked once',
  async (_when, end) => {
    const worker = await stage.startWorker({ agents: true })
    const session = await stage.session()
    const hold = await stage.holds.hold({ session: session.id, step: 't1.0.0', moment: 'settle' })
    const turn = await session.send('lead')
    await hold.reached()
    await worker.kill()
    await (end === 'kept' ? hold.letThrough() : hold.drop())
    await stage.startWorker({ agents: true })
    expect((await turn.result()).text).toContain('I have looked')
    const { children } = await session.tree()
    expect(children.map(({ turns }) => turns)).toEqual([1])
  },
)
