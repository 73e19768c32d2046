/** The tools of MCP servers in a session: found, called, lost and found again. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fromEnv, mcp, type McpProgram } from '../../src/capabilities/index.ts'
import { scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { badServer, published, useFolder } from '../unit/capabilities/mcp/mcp-fixture.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'

const stello = useStello()

/** Calls the tool that its message names, e.g. `b {}`, and then says what the result was. */
function obedient(): ScriptedModel {
  return scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    const [, name, args] = /^([\w-]+) (\{.*\})$/.exec(last?.content ?? '') ?? []
    return last?.role === 'user' && name ? { toolCalls: [{ name, arguments: args ?? '' }] } : (last?.content ?? '')
  })
}

const offered = (llm: ScriptedModel): string[] => llm.calls.at(-1)?.tools.map(({ name }) => name) ?? []

it('a session calls the tools of a server, and a tool that the server adds is there at the next model call', async () => {
  const llm = obedient()
  const servers = { all: published('everything'), bad: badServer().server }
  const session = await stello.session({ llm, capabilities: { packs: [mcp({ servers })] } })
  expect(await ask(session, 'mcp__all__get-sum {"a": 2, "b": 40}')).toBe('The sum of 2 and 40 is 42.')
  expect(offered(llm)).not.toContain('mcp__bad__dance')
  expect(await ask(session, 'mcp__bad__learn {"name": "dance"}')).toBe('learnt')
  // The server tells of its new tool after the answer.
  for (let asked = 0; !offered(llm).includes('mcp__bad__dance'); asked++) await ask(session, `hello ${asked}`)
  expect(await ask(session, 'mcp__bad__dance {}')).toBe('I am dance')
})

it('a server that crashes in a call leaves an unknown outcome, and the session goes on with that', async () => {
  const bad = badServer()
  const packs = [mcp({ servers: { bad: bad.server } })]
  const session = await stello.session({ llm: obedient(), capabilities: { packs } })
  expect(await ask(session, 'mcp__bad__crash {}')).toMatch(
    /^TOOL_OUTCOME_UNKNOWN: MCP server "bad" was lost during "crash"/,
  )
  expect(await ask(session, 'mcp__bad__long {"bytes": 3}')).toBe('xxx')
  expect(bad.journal()).toEqual(['started', 'crashed', 'started'])
})

it('a call that its server never answers ends with its time-out, and the server is ended too', async () => {
  const bad = badServer()
  const server: McpProgram = { ...bad.server, tools: { freeze: { timeout: '10s' } } }
  const session = await stello.session({
    llm: obedient(),
    capabilities: { packs: [mcp({ servers: { bad: server } })] },
  })
  expect(await ask(session, 'mcp__bad__freeze {}')).toBe(
    'TOOL_TIMEOUT: tool "mcp__bad__freeze" did not end within 10 s',
  )
  expect(await ask(session, 'mcp__bad__long {"bytes": 3}')).toBe('xxx')
  expect(bad.journal()).toEqual(['started', 'frozen', 'started'])
})

it('5 MB from a server are stored whole, and the model reads a part', async () => {
  const llm = obedient()
  const packs = [mcp({ servers: { bad: badServer().server } })]
  const session = await stello.session({ llm, capabilities: { packs } })
  await ask(session, 'mcp__bad__long {"bytes": 5000000}')
  const read = llm.calls.at(-1)?.messages.at(-1)?.content ?? ''
  expect(read.length).toBeLessThan(60_000)
  const seq = /characters; people read the whole by `stello transcript \S+ --at (\d+)`/.exec(read)?.[1]
  expect((await session.record(Number(seq))).message.content).toHaveLength(5_000_000)
})

it('a secret that a server was given reaches neither the model nor the transcript', async () => {
  process.env['MCP_TEST_TOKEN'] = 'token-0123456789'
  const llm = obedient()
  const server = { ...published('everything'), env: { TOKEN: fromEnv('MCP_TEST_TOKEN') } }
  const session = await stello.session({ llm, capabilities: { packs: [mcp({ servers: { all: server } })] } })
  const env = await ask(session, 'mcp__all__get-env {}')
  delete process.env['MCP_TEST_TOKEN']
  expect(JSON.parse(env)).toMatchObject({ TOKEN: '(secret)' })
  expect(JSON.stringify([llm.calls, await session.transcript()])).not.toContain('token-0123456789')
})

it('the next worker finds what a server has kept on disk', async () => {
  const server = { ...published('memory'), env: { MEMORY_FILE_PATH: join(useFolder(), 'memory.json') } }
  const agent = { name: 'keeper', llm: obedient(), capabilities: { packs: [mcp({ servers: { memory: server } })] } }
  const first = await stello.work(agent)
  const session = await stello.client.createSession({ agent: first.taskQueue })
  const entities = JSON.stringify({ entities: [{ name: 'Oslo', entityType: 'city', observations: ['rainy'] }] })
  await ask(session, `mcp__memory__create_entities ${entities}`)
  await first.stop()
  await stello.work({ ...agent, name: first.taskQueue })
  expect(await ask(session, 'mcp__memory__read_graph {}')).toContain('rainy')
})

it('a question of a server waits for a person without a worker, and the call begins anew with the answer', async () => {
  const llm = obedient()
  const all: McpProgram = { ...published('everything'), per: 'session' }
  const agent = { name: 'asker', llm, capabilities: { packs: [mcp({ servers: { all } })] } }
  const first = await stello.work(agent)
  const session = await stello.client.createSession({ agent: first.taskQueue })
  const asking = 'mcp__all__trigger-elicitation-request'
  // The server offers the tool after it has heard that it may ask.
  for (let asked = 0; !offered(llm).includes(asking); asked++) await ask(session, `hello ${asked}`)
  const turn = await session.send(`${asking} {}`)
  const item = await until('it asks', async () => (await session.pending())[0])
  expect(item).toMatchObject({ kind: 'question', name: asking, message: expect.stringContaining('provide inputs') })
  await first.stop()
  await stello.work(agent)
  await session.answer(item.id, { decision: 'answer', text: 'Ada', values: { name: 'Ada', check: true } })
  expect((await turn.result()).text).toContain('- Name: Ada')
})

const URI = 'demo://resource/static/document/features.md'
const reads = (server?: string): string => `ReadMcpResource ${JSON.stringify({ server, uri: URI })}`

it.each(['mcp__billing', 'mcp__billing__*'])('the rule %s denies every way to a server', async (rule) => {
  const llm = obedient()
  const packs = [mcp({ servers: { open: published('everything'), billing: published('everything') } })]
  const session = await stello.session({ llm, permissions: { mode: 'yolo', deny: [rule] }, capabilities: { packs } })
  for (const call of [
    reads('billing'),
    'ListMcpResources {"server": "billing"}',
    'GetMcpPrompt {"name": "billing:simple-prompt"}',
  ]) {
    const [tool] = call.split(' ')
    const said = `TOOL_PERMISSION_DENIED: "${tool}" (ask the MCP server billing) is denied by the rule ${rule}`
    expect(await ask(session, call)).toBe(said)
  }
  expect(await ask(session, 'ListMcpResources {}')).toMatch(/^open {2}demo:(?![^]*billing)/)
  expect(await ask(session, reads())).toMatch(/^\[resource demo:/)
  expect(await ask(session, 'GetMcpPrompt {"name": "none"}')).toMatch(/open:simple-prompt(?![^]*billing)/)
  expect(JSON.stringify(llm.calls.at(-1)?.tools)).not.toContain('billing')
})

it('a rule that asks about a server asks when a call names it; without a name, the server is left out', async () => {
  const packs = [mcp({ servers: { open: published('everything'), billing: published('everything') } })]
  const session = await stello.session({
    llm: obedient(),
    permissions: { mode: 'yolo', ask: ['mcp__billing'] },
    capabilities: { packs },
  })
  expect(await ask(session, 'ListMcpResources {}')).toMatch(/^open {2}demo:[^]*\nbilling: a rule asks a person first/)
  expect(await ask(session, reads())).toMatch(/^\[resource demo:/)
  const turn = await session.send(reads('billing'))
  await eventsUntil(session, ({ type }) => type === 'pending.opened')
  const [item] = await session.pending()
  expect(item?.message).toContain('ask the MCP server billing')
  await session.answer(item?.id ?? '', { decision: 'approve' })
  expect((await turn.result()).text).toMatch(/^\[resource demo:/)
})
