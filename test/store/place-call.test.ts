/** On which host a call of a working folder runs, and when the folder counts as lost. */
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Deps } from '../../src/activities/deps.ts'
import { callTool } from '../../src/activities/tool/call-tool.ts'
import type { CallToolInput, Elsewhere, ToolOutcome } from '../../src/protocol/steps.ts'
import { inputHash } from '../../src/store/ledger/hashes.ts'
import { holdLiveness, newBootId, stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { enterWorker } from '../../src/store/ledger/workers.ts'
import { enterHost, readHosts, readWorkspace } from '../../src/store/sessions/workspace-owners.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { attempt, depsOf } from './activity.ts'
import { NAMESPACE, openSession, placeAt, take, taker, visit, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

interface Played {
  ran: string[]
  /** One attempt at a call by a worker on a host. */
  on(host: string, index: number, more?: Partial<CallToolInput>): Promise<ToolOutcome | Elsewhere>
  /** Call 0 was begun by a worker that is dead by now. */
  begunAndLost(): Promise<void>
  sessionId: string
}

/** A session whose model has made five calls of the tool `pay` of its working folder. */
async function calling(room?: number): Promise<Played> {
  const ran: string[] = []
  const deps = (host: string): Deps => {
    const pay = tool(
      'pay',
      'Pays',
      z.object({}),
      (_args, { workspace }) => String(ran.push(`${host} ${workspace?.root}`)),
      { runsIn: 'workspace', verify: () => ({ happened: false }) },
    )
    const keeper = {
      per: 'tree' as const,
      lostAfterMs: 5,
      ...(room !== undefined && { capacity: room }),
      host: async () => host,
      enter: async ({ generation }: { generation: number }, signal: AbortSignal) => {
        if (host !== 'stuck') return `/srv/${generation}`
        signal.addEventListener('abort', () => ran.push('told to end'))
        return new Promise<never>(() => {})
      },
    }
    const capabilities = { tools: [pay], packs: [{ tools: [], workspaces: keeper }] }
    return { ...depsOf(at.db, { llm: scriptedModel([]), capabilities }), host }
  }
  const run = await openSession(at.db)
  const { sessionId } = run
  const calls = [0, 1, 2, 3, 4].map((index) => ({ id: `c-${index}`, name: 'pay', arguments: '{}' }))
  await write(at.db, run, 'm1.0', 1, [{ role: 'assistant', content: '', toolCalls: calls }])
  const place = { turn: 1, base: 1, place: placeAt(1), messageId: 'm', round: 0 }
  return {
    ran,
    sessionId,
    on(host, index, more) {
      const call = { id: `c-${index}`, name: 'pay' }
      const input = { sessionId, key: `t1.0.${index}`, call, gen: 0, ...place, index, seq: 2 + index }
      const allowed = host === 'stuck' ? { allowedMs: 20 } : {}
      return attempt(run, () => callTool(deps(host), { ...input, ...more }), allowed)
    },
    async begunAndLost() {
      const { chain } = await deps('any').transcripts.read(at.db, { sessionId, gen: 0, seq: 1 })
      const hash = inputHash('tool', chain, 0, 'pay', '{}')
      await take(at.db, run, { key: 't1.0.0', kind: 'tool', name: 'pay', inputHash: hash, owner: await visit(at.db) })
      await stealDeadSteps(at.db, taker('a survivor'))
    },
  }
}

/** A living worker on a host. */
async function serving(host: string, capacity: number | null = null): Promise<void> {
  const bootId = newBootId()
  const held = await holdLiveness(at.db.url, bootId)
  onTestFinished(() => held.release())
  await enterWorker(at.db, { bootId, agent: 'test', namespace: NAMESPACE })
  await enterHost(at.db, bootId, { host, capacity })
}

const settled = (more: object) => expect.objectContaining({ kind: 'settled', ...more })
const sentTo = (host: string) => ({ kind: 'elsewhere', host, generation: 1, withinMs: 5 })
const untaken = { sent: { host: 'a', generation: 1, untaken: true } } as const

it('the first host that needs the folder gets it; calls on other hosts are sent there', async () => {
  const { on, ran } = await calling()
  expect(await on('a', 0)).toEqual(settled({ isError: false, workspace: 1 }))
  expect(await on('b', 1)).toEqual(sentTo('a'))
  expect(ran).toEqual(['a /srv/1'])
})

it('a host with a living worker is only busy: a call that it did not take is sent there again', async () => {
  const { on, sessionId } = await calling()
  await serving('a')
  await on('a', 1)
  expect(await on('b', 0, untaken)).toEqual(sentTo('a'))
  expect(await readWorkspace(at.db, sessionId)).toEqual({ generation: 1, host: 'a' })
})

it('a call that the only workers of a dead host did not take is not run again, and its verify is not run either', async () => {
  const { on, ran, begunAndLost, sessionId } = await calling()
  await on('a', 1)
  await begunAndLost()
  expect(await on('b', 0, untaken)).toEqual(
    settled({ code: 'TOOL_WORKSPACE_LOST', workspace: 2, preview: expect.stringContaining('had begun there') }),
  )
  expect(ran).toEqual(['a /srv/1'])
  expect(await readWorkspace(at.db, sessionId)).toEqual({ generation: 2 })
})

it('several calls of one round that were not taken lose the folder once', async () => {
  const { on, sessionId } = await calling()
  await on('a', 1)
  await on('b', 0, untaken)
  await on('b', 2, untaken)
  expect(await readWorkspace(at.db, sessionId)).toEqual({ generation: 2 })
})

it('a session that knows an earlier generation is told first; one that knows none works in the new folder', async () => {
  const { on, ran } = await calling()
  await on('a', 1)
  await on('b', 2, untaken)
  expect(await on('b', 3, { workspace: 1 })).toEqual(settled({ code: 'TOOL_WORKSPACE_LOST', workspace: 2 }))
  expect(await on('b', 4, { workspace: 2 })).toEqual(settled({ isError: false, workspace: 2 }))
  expect(await on('a', 0)).toEqual({ ...sentTo('b'), generation: 2 })
  expect(ran).toEqual(['a /srv/1', 'b /srv/2'])
})

it('a full host gives the folder to a living host with room; if there is none, the model reads that', async () => {
  const first = await calling(1)
  await serving('full', 1)
  await first.on('full', 0)
  const second = await calling(1)
  expect(await second.on('full', 0)).toEqual(settled({ preview: expect.stringContaining('no host has room') }))
  await serving('roomy', 1)
  const third = await calling(1)
  expect(await third.on('full', 0)).toEqual(sentTo('roomy'))
  const hosts = await readHosts(at.db, { namespace: NAMESPACE, agent: 'test' })
  expect(hosts).toContainEqual({ host: 'roomy', alive: true, workspaces: 1, capacity: 1 })
})

it('the folder of a closed session takes no room', async () => {
  const before = await calling(1)
  await serving('small', 1)
  await before.on('small', 0)
  expect(await (await calling(1)).on('small', 0)).toEqual(settled({ code: 'TOOL_EXECUTION_ERROR' }))
  await at.db.pool.query('update sessions set closed_at = now() where id = $1', [before.sessionId])
  expect(await (await calling(1)).on('small', 0)).toEqual(settled({ isError: false }))
})

it('a folder that never becomes ready is waited for only so long: the code that fills it is told, and the model reads why', async () => {
  const { on, ran } = await calling()
  expect(await on('stuck', 0)).toEqual(
    settled({
      code: 'TOOL_TIMEOUT',
      preview: expect.stringContaining('what fills a new folder (hydrate) has not ended'),
    }),
  )
  expect(ran).toEqual(['told to end'])
})
