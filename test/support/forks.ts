/** Makes and reads forks in tests. */
import { expect } from 'vitest'
import { ForkProfileRegistryImpl, type ForkProfile } from '../../src/agent/profile.ts'
import type { SessionHandle, StelloClient } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type Rule, type ScriptedModel } from '../../src/testing/index.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import type { Gate } from './gate.ts'
import type { Fixture } from './session-fixture.ts'

/** The only child of a session. */
export async function onlyChild(client: StelloClient, session: SessionHandle): Promise<SessionHandle> {
  const { children } = await session.tree()
  expect(children).toHaveLength(1)
  return client.session(children[0]?.id ?? '')
}

export function profiles(named: Record<string, ForkProfile>): ForkProfileRegistryImpl {
  return Object.entries(named).reduce(
    (all, [name, profile]) => all.register(name, profile),
    new ForkProfileRegistryImpl(),
  )
}

/** Makes forks that have rows but no workflows, so only a close can reach them. Their ids come before `b`. */
export async function goneForks({ db }: Pick<Fixture, 'db'>, of: SessionHandle, count: number): Promise<void> {
  const { agent } = await of.state()
  const config = { agent, label: 'gone', model: 'agent', tools: 'agent' } as const
  const parentId = of.id
  await of.bounds({ maxChildren: count + 10, maxSessions: count + 20 })
  for (let n = 0; n < count; n++)
    await createSession(db, { sessionId: `a-${parentId}-${n}`, rootId: parentId, parentId, depth: 1, config })
}

/** A model that forks its session when it is told `fork`, and says `ok` otherwise. */
export function forking(): ScriptedModel {
  return scriptedModel(
    replyBy([
      ['fork', { toolCalls: [{ name: 'stello_create_session', arguments: { label: 'child' } }] }],
      [() => true, 'ok'],
    ]),
  )
}

/** Rules of a script. A session that is told `go` waits for a task. The task comes to the gate before it answers. */
export function taskAt(gate: Gate): Rule[] {
  return [
    ['go', { toolCalls: [{ name: 'new_task', arguments: { label: 'a', message: 'slow' } }] }],
    ['slow', () => gate.pass().then(() => 'slow answer')],
  ]
}
