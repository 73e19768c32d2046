/** A pack with a process: it is opened with the worker, asked at each call, and closed with the worker. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { CapabilityPack } from '../../src/agent/capability-pack.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()

/** Stands for a server of tools. */
function server(): CapabilityPack & { told: string[]; names: string[]; trouble?: Error } {
  const pack: ReturnType<typeof server> = {
    name: 'weather',
    told: [],
    names: ['rain'],
    open: () => void pack.told.push('open'),
    close: () => void pack.told.push('close'),
    async tools({ sessionId }) {
      if (pack.trouble) throw pack.trouble
      pack.told.push(`tools of ${sessionId}`)
      return pack.names.map((name) => tool(name, `Tells of ${name}`, z.object({}), async () => `${name} today`))
    },
  }
  return pack
}

const llm = () =>
  scriptedModel(
    replyBy([
      ['now rain', { toolCalls: [{ name: 'rain' }] }],
      ['now snow', { toolCalls: [{ name: 'snow' }] }],
      [{ tool: 'rain' }, ({ messages }) => messages.at(-1)?.content ?? ''],
      [{ tool: 'snow' }, ({ messages }) => messages.at(-1)?.content ?? ''],
    ]),
  )

it('a pack is open before the first call and closed after the last; its list may change in between', async () => {
  const pack = server()
  const model = llm()
  const worker = await stello.work({ llm: model, capabilities: { packs: [pack] } })
  expect(pack.told[0]).toBe('open')
  const session = await stello.client.createSession({ agent: worker.taskQueue, label: 'main' })
  expect(await ask(session, 'now rain')).toBe('rain today')
  expect(pack.told).toContain(`tools of ${session.id}`)
  expect(await ask(session, 'now snow')).toContain('TOOL_NOT_FOUND')
  pack.names.push('snow')
  expect(await ask(session, 'now snow')).toBe('snow today')
  expect(model.calls.at(-1)?.tools.map(({ name }) => name)).toContain('snow')
  await worker.stop()
  expect(pack.told.at(-1)).toBe('close')
})

it('a pack that does not answer pauses the session, which goes on when the pack answers again', async () => {
  const pack = server()
  const session = await stello.session({ llm: llm(), capabilities: { packs: [pack] } })
  pack.trouble = new Error('the server is away')
  const turn = await session.send('now rain')
  const paused = await until('it pauses', async () => (await session.state()).pause)
  expect(paused).toMatchObject({ reason: 'agent_error', message: expect.stringContaining('the server is away') })
  delete pack.trouble
  await session.resume()
  expect((await turn.result()).text).toBe('rain today')
})

it('a worker does not start without its pack, and closes what was opened before', async () => {
  const first = server()
  const broken: CapabilityPack = { name: 'broken', tools: [], open: () => Promise.reject(new Error('no such program')) }
  await expect(stello.work({ llm: llm(), capabilities: { packs: [first, broken] } })).rejects.toMatchObject({
    code: 'TOOLS_UNAVAILABLE',
    message: 'pack "broken" cannot be opened: no such program',
  })
  expect(new Set(first.told)).toEqual(new Set(['open', 'close']))
})
