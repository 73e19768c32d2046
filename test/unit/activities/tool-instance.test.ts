/** One call in one process: its instance, and what the instance is told while the arguments stream in. */
import { describe, expect, it } from 'vitest'
import type { LiveStep } from '../../../src/activities/live-writer.ts'
import { ToolChannel } from '../../../src/activities/tool/tool-channel.ts'
import { ToolInstance } from '../../../src/activities/tool/tool-instance.ts'
import { KeptInstances, instanceId } from '../../../src/activities/tool/kept-instances.ts'
import { toTool } from '../../../src/tool/to-tool.ts'
import type { SessionContext, ToolContext } from '../../../src/tool/tool.ts'
import { createGate } from '../../support/gate.ts'
import { named } from '../agent/authoring.ts'

const about = { sessionId: 's-1', rootId: 's-1', depth: 0, userId: 'ann' }
const live = { card: () => undefined, update: () => undefined } as unknown as LiveStep
const newUse = (): ToolInstance => new ToolInstance(new ToolChannel({ id: 'c-1', name: 'made' }, { live }))
const partialContext = { ...about } as unknown as Omit<ToolContext, 'signal'>

describe('an instance', () => {
  it('is made once, with a signal that does not fire while it lives', async () => {
    const made: SessionContext[] = []
    const tool = toTool({
      name: 'made',
      factory: (ctx: SessionContext) => {
        made.push(ctx)
        return { ...named('inner'), onPartial: () => undefined }
      },
    })
    const use = newUse()
    use.partial(tool, {}, partialContext)
    await use.open(tool, about)
    await use.complete()
    await use.open(tool, about)
    await use.dispose()
    await new Promise(setImmediate)
    expect(made).toMatchObject([about])
    expect(made[0]?.signal.aborted).toBe(false)
  })

  it('that could not be made is made anew', async () => {
    let tries = 0
    const tool = toTool({
      name: 'made',
      factory: () => (++tries === 1 ? Promise.reject(new Error('no database')) : named('inner')),
    })
    const use = newUse()
    await expect(use.open(tool, about)).rejects.toThrow('no database')
    expect(await use.open(tool, about)).toMatchObject({ name: 'made' })
  })

  it('that is still being made when the call ends is told so, and disposed of when it exists', async () => {
    const gate = createGate()
    const life: string[] = []
    const tool = toTool({
      name: 'made',
      factory: async ({ signal }: SessionContext) => {
        signal.addEventListener('abort', () => gate.open())
        await gate.pass()
        life.push('made')
        return {
          ...named('inner'),
          getDescription: () => 'd',
          getParameters: () => ({ type: 'object' }),
          dispose: () => life.push('disposed'),
        }
      },
    })
    const use = newUse()
    const opening = use.open(tool, about)
    await use.dispose()
    await opening
    expect(life).toEqual(['made', 'disposed'])
  })
})

describe('the channels of a call', () => {
  it('take a result only while it runs, and show nothing after its end', async () => {
    const shown: unknown[] = []
    const telling = {
      card: (_call: unknown, card: unknown) => shown.push(card),
      update: (_call: unknown, _kind: string, update: unknown) => shown.push(update),
    } as unknown as LiveStep
    const call = { id: 'c-1', name: 'made' }
    const channel = new ToolChannel(call, { live: telling })
    const { setToolResult, sendToolStatus, onUpdate } = channel.context
    const tool = { ...toTool(named('made')), answersBy: 'channel' as const }
    await setToolResult('too early')
    expect(() => channel.resultOf(tool, 'returned')).toThrow('did not call setToolResult')
    channel.start(call, { live: telling })
    await setToolResult('first')
    await setToolResult('last')
    await sendToolStatus('c-1', 'SUCCESS', { result: 1 })
    onUpdate('almost')
    channel.end()
    await sendToolStatus('c-1', 'DOING')
    onUpdate('too late')
    expect(channel.resultOf(tool, 'returned')).toBe('last')
    expect(channel.card).toEqual({ status: 'SUCCESS', result: 1 })
    // The end of a call is told when it is settled.
    expect(shown).toEqual(['almost'])
    expect(channel.updates).toEqual([['update', 'almost']])
  })

  it('show of a large value what fits', () => {
    const shown: Record<string, unknown>[] = []
    const telling = { card: (_call: unknown, card: Record<string, unknown>) => shown.push(card) } as unknown as LiveStep
    const channel = new ToolChannel({ id: 'c-1', name: 'write' }, { live: telling })
    channel.status('WAIT', { showTip: 't'.repeat(5000), params: { path: 'a', text: 'x'.repeat(10_000) } })
    channel.status('DOING', { params: { rows: Array(5000).fill(1) } })
    expect(shown[0]?.['params']).toEqual({ path: 'a', text: `${'x'.repeat(499)}…` })
    expect(String(shown[0]?.['showTip'])).toHaveLength(1000)
    expect(shown[1]?.['params']).toMatchObject({ path: 'a', '…': '(10010 characters left out)' })
  })
})

describe('partial arguments', () => {
  it('that come while the tool is busy are skipped, except for the latest', async () => {
    const seen: unknown[] = []
    const busy = createGate()
    const tool = toTool({
      ...named('slow'),
      onPartial: async (args: unknown) => {
        seen.push(args)
        await busy.pass()
      },
    })
    const use = newUse()
    for (const n of [1, 2, 3]) use.partial(tool, { n }, partialContext)
    await busy.reached()
    busy.open()
    await busy.reached(2)
    expect(seen).toEqual([{ n: 1 }, { n: 3 }])
  })

  it('are over when the call runs, which waits until the tool is done with them', async () => {
    const life: string[] = []
    const tool = toTool({
      ...named('slow'),
      onPartial: async (_args: unknown, { signal }: ToolContext) => {
        await new Promise((resolve) => signal.addEventListener('abort', () => setImmediate(resolve)))
        life.push('partial ended')
        throw new Error('nobody minds')
      },
    })
    const use = newUse()
    use.partial(tool, {}, partialContext)
    await new Promise(setImmediate)
    await use.complete()
    life.push('runs')
    use.partial(tool, {}, partialContext)
    await new Promise(setImmediate)
    expect(life).toEqual(['partial ended', 'runs'])
  })
})

it('a call that waits to run is found once, and disposed of when the worker stops or another takes its place', async () => {
  const ended: number[] = []
  const uses = new KeptInstances(() => undefined)
  const opened = async (n: number): Promise<ToolInstance> => {
    const use = newUse()
    const getters = { getDescription: () => 'd', getParameters: () => ({ type: 'object' }) }
    await use.open(
      toTool({ name: 'made', factory: () => ({ ...named('i'), ...getters, dispose: () => ended.push(n) }) }),
      about,
    )
    return use
  }
  const [first, second, third] = await Promise.all([opened(1), opened(2), opened(3)])
  const id = instanceId(0, { sessionId: 's', turn: 1, round: 0, index: 0 })
  uses.park(id, first)
  uses.park(id, second)
  expect(uses.take(id)).toBe(second)
  expect(uses.take(id)).toBeUndefined()
  uses.park(id, third)
  await uses.close()
  expect(new Set(ended)).toEqual(new Set([1, 3]))
})

it('a call whose instance never finishes its disposal is given up, so that nothing is kept of it', async () => {
  const gone = createGate()
  gone.open()
  const warned: string[] = []
  const uses = new KeptInstances(
    (message) => {
      warned.push(message)
      void gone.pass()
    },
    { disposeMs: 1 },
  )
  const use = newUse()
  const dispose = (): Promise<never> => new Promise(() => {})
  const getters = { getDescription: () => 'd', getParameters: () => ({ type: 'object' }) }
  await use.open(toTool({ name: 'made', factory: () => ({ ...named('i'), ...getters, dispose }) }), about)
  uses.end(use)
  expect(uses.ending).toBe(1)
  await gone.reached()
  expect(uses.ending).toBe(0)
  expect(warned).toEqual(["a tool's dispose has not ended within 0.001 s and is no longer waited for"])
})
