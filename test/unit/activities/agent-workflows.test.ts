/** Messages to an agent whose workflow comes and goes. The test plays the store and Temporal. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { expect, it } from 'vitest'
import { sendToAgent } from '../../../src/activities/child/agent-workflows.ts'
import type { Deps } from '../../../src/activities/deps.ts'

const ID = 's-agent'

/** @param looks how many looks its closing workflow still survives */
function closedAgent(looks: number) {
  const done: string[] = []
  const row = {
    id: ID,
    root_id: 's',
    parent_id: 's',
    depth: 1,
    config: { label: 'a', agent: 'x' },
    gen: 0,
    run_id: 'r',
  }
  let closed: Date | null = new Date()
  const rows: Record<string, () => object[]> = {
    message_get: () => [{ body: 'more' }],
    session_read: () => [
      { ...row, namespace: null, pause: null, branch_session: null, closed_at: closed, closing: false },
    ],
    agent_reopen: () => {
      done.push('reopened')
      closed = null
      return [{ id: ID }]
    },
  }
  const query = async ({ name }: { name: string }) => ({ rows: rows[name]?.() ?? [] })
  const handle = {
    describe: async () => ({ status: { name: looks-- > 0 ? 'RUNNING' : 'COMPLETED' } }),
    signal: async () => void done.push('signalled'),
  }
  const start = async (type: string): Promise<void> => {
    if (looks > 0) throw new WorkflowExecutionAlreadyStartedError('it runs', ID, type)
    done.push('started')
  }
  const client = { workflow: { getHandle: () => handle, start } }
  return { deps: { db: { pool: { query } }, client } as unknown as Deps, done }
}

it('an agent that has just closed is opened again when its workflow has ended, because a message to that one would be lost', async () => {
  const { deps, done } = closedAgent(2)
  await sendToAgent(deps, ID, { messageId: 'm', text: 'more', interrupt: false })
  expect(done).toEqual(['reopened', 'started'])
})
