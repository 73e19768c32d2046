/** What scenarios with an agent of their own share. */
import { replyBy, scriptedModel, type ReplyToolCall, type Rule } from '../../src/testing/index.ts'
import { messageSignal } from '../../src/protocol/temporal-messages.ts'
import type { TurnHandle } from '../../src/client/index.ts'
import type { Gate } from '../support/gate.ts'
import type { TestAgent } from '../support/session-fixture.ts'
import type { Scenario, Stage } from './scenarios.ts'

export interface Staged {
  agent(gate: Gate): TestAgent
  play: Scenario
}

export const call = (name: string, args: object = {}): ReplyToolCall => ({ name, arguments: args })
export const script = (...rules: Rule[]): TestAgent['llm'] => scriptedModel(replyBy([...rules, [() => true, 'done']]))

/** The same message, sent again and again, changes nothing and fills the run, until the session goes on in the next one. */
export async function intoNextRun({ client, session }: Stage, { messageId }: TurnHandle): Promise<void> {
  const workflow = client.temporal.workflow.getHandle(session.id)
  const { runId } = await workflow.describe()
  while ((await workflow.describe()).runId === runId) {
    await Promise.all(Array.from({ length: 10 }, () => workflow.signal(messageSignal, { messageId, text: 'again' })))
  }
}
