/** Updates of a long tool while it runs. They cost the session nothing. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { defaultPayloadConverter } from '@temporalio/common'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ToolContext } from '../../src/tool/tool.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle, StelloEvent } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'
import { historyOf, viewOf } from '../support/settled.ts'
import { countRows } from '../store/fixtures.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const working = (): ScriptedModel =>
  scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'work' }] }],
      [{ tool: 'work' }, 'done'],
    ]),
  )

/** A tool that sends an update, then works until the gate is open. */
function telling(tell: (ctx: ToolContext) => void) {
  const gate = createGate()
  const work = tool('work', 'Works', z.object({}), async (_args, ctx) => {
    tell(ctx)
    await gate.pass()
    return 'worked'
  })
  return { gate, work }
}

/** Asks until a heartbeat has reached Temporal. */
async function heartbeatOf(session: SessionHandle): Promise<unknown> {
  for (;;) {
    const { raw } = await stello.client.temporal.workflow.getHandle(session.id).describe()
    const [payload] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? []
    if (payload) return defaultPayloadConverter.fromPayload(payload)
  }
}

describe('what a tool tells while it runs', () => {
  it('is shown: the latest of each kind, however large it was', async () => {
    const { gate, work } = telling((ctx) => {
      for (let i = 0; i < 20_000; i++) ctx.onUpdate({ i })
      for (let i = 0; i < 20_000; i++) ctx.onProgress(`step ${i}`)
      ctx.updateOutput(`${'x'.repeat(100_000)} the end`)
    })
    const session = await stello.session({ llm: working(), capabilities: { tools: [work] } })
    const turn = await session.send('go')
    const output = (event: StelloEvent | undefined): string =>
      String(event?.type === 'tool.update' ? ((event.data.update as { output?: string }).output ?? '') : '')
    const events = await eventsUntil(session, (event) => output(event) !== '', { live: true })
    expect(output(events.at(-1))).toMatch(/^x{4088} the end$/)
    const updates = events.filter(({ type }) => type === 'tool.update')
    expect(updates.map(({ data }) => fieldOf(data, 'update')).slice(0, 2)).toEqual([
      { i: 19_999 },
      { progress: 'step 19999' },
    ])
    expect(await countRows(stello.db, 'live', session.id)).toBe(4)
    gate.open()
    expect((await turn.result()).text).toBe('done')
    expect(await countRows(stello.db, 'live', session.id)).toBe(0)
  })

  it('stands in Temporal as the detail of the running step', async () => {
    const { gate, work } = telling((ctx) => ctx.onProgress('a third done'))
    const session = await stello.session({ llm: working(), capabilities: { tools: [work] } })
    const turn = await session.send('go')
    await gate.reached()
    expect(await heartbeatOf(session)).toEqual({ progress: 'a third done' })
    gate.open()
    await turn.result()
  })

  it('leaves no trace in the history of the workflow', async () => {
    const historyWith = async (tell: (ctx: ToolContext) => void): Promise<number> => {
      const { gate, work } = telling(tell)
      gate.open()
      const session = await stello.session({ llm: working(), capabilities: { tools: [work] } })
      await ask(session, 'go')
      await viewOf(stello.client, session)
      return (await historyOf(stello.client, session.id)).bytes
    }
    const silent = await historyWith(() => undefined)
    const chatty = await historyWith((ctx) => {
      for (let i = 0; i < 100; i++) ctx.updateOutput('x'.repeat(4000))
      void ctx.sendToolStatus(ctx.requestId, 'DOING', { result: 'x'.repeat(40_000) })
    })
    // One workflow task more or less is no content.
    expect(chatty - silent).toBeLessThan(4000)
  })

  it('is lost when it comes after the end of the call', async () => {
    let late: ToolContext | undefined
    const { gate, work } = telling((ctx) => (late = ctx))
    gate.open()
    const session = await stello.session({ llm: working(), capabilities: { tools: [work] } })
    await ask(session, 'go')
    late?.onUpdate('too late')
    await late?.sendToolStatus(late.requestId, 'DOING', { showTip: 'too late' })
    await ask(session, 'go')
    const events = await eventsUntil(session, ({ data }) => fieldOf(data, 'turn') === 2, { live: true })
    expect(JSON.stringify(events)).not.toContain('too late')
  })
})

describe('a watcher', () => {
  it('that never asks for more does not hold up the session', async () => {
    const session = await stello.session({ llm: scriptedModel(() => 'word '.repeat(2000)) })
    const watching = session.watch()[Symbol.asyncIterator]()
    const first = watching.next()
    for (let n = 0; n < 3; n++) await ask(session, `turn ${n}`)
    expect((await first).value).toMatchObject({ type: 'turn.started' })
    expect(await session.state()).toMatchObject({ turns: 3 })
    await watching.return?.()
  })

  it('whose process stands still does not hold up the session, and sees everything later', async () => {
    const session = await stello.session({ llm: scriptedModel(() => 'word '.repeat(2000)) })
    const script = fileURLToPath(new URL('../support/watcher-process.ts', import.meta.url))
    const watcher = fork(script, [JSON.stringify({ sessionId: session.id, ...stello.servers })], {
      execArgv: ['--import', 'tsx'],
    })
    const seen: string[] = []
    watcher.on('message', (type: string) => seen.push(type))
    const ended = once(watcher, 'exit')
    try {
      await ask(session, 'turn 0')
      while (!seen.includes('turn.completed')) await once(watcher, 'message')
      watcher.kill('SIGSTOP')
      for (let n = 1; n <= 3; n++) await ask(session, `turn ${n}`)
      expect(seen.filter((type) => type === 'turn.completed')).toHaveLength(1)
      watcher.kill('SIGCONT')
      while (seen.filter((type) => type === 'turn.completed').length < 4) await once(watcher, 'message')
    } finally {
      watcher.kill('SIGKILL')
      await ended
    }
  })
})
