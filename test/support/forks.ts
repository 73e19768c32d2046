/** Forks, as tests set them up and look at them. */
import { expect } from 'vitest'
import { ForkProfileRegistryImpl, type ForkProfile } from '../../src/agent/profile.ts'
import type { SessionHandle, StelloClient } from '../../src/client/index.ts'
import type { Rule } from '../../src/testing/index.ts'
import type { Gate } from './gate.ts'

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

/** Of a script: who says `go` awaits a task, which comes to the gate before it answers. */
export function taskAt(gate: Gate): Rule[] {
  return [
    ['go', { toolCalls: [{ name: 'new_task', arguments: { label: 'a', message: 'slow' } }] }],
    ['slow', () => gate.pass().then(() => 'slow answer')],
  ]
}
