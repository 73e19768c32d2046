/** The pack with the servers that the authors of the protocol publish. */
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { testContext } from '../test-context.ts'
import { published, useFolder, usePack } from './mcp-fixture.ts'

it('offers the tools of a server under its name, with the kinds that a worker assumes if it knows nothing', async () => {
  const pack = await usePack({ everything: published('everything') })
  const tools = await pack.tools()
  const sum = tools.find(({ name }) => name === 'mcp__everything__get-sum')
  expect(sum).toMatchObject({ effect: 'non_idempotent', kind: 'execute', ordered: true })
  expect(sum?.parameters).toMatchObject({ required: ['a', 'b'] })
  expect((await pack.call('mcp__everything__get-sum', { a: 2, b: 40 })).content).toBe('The sum of 2 and 40 is 42.')
  expect(await pack.call('mcp__everything__get-sum', { a: 'two' })).toMatchObject({ isError: true })
  expect((await pack.tools()).slice(0, 3)).toEqual(tools.slice(0, 3))
  expect((await pack.tools())[0]).toBe(tools[0])
})

it('is told by the agent what it knows of a tool', async () => {
  const settings = { effect: 'pure', kind: 'readonly', timeout: '5s' } as const
  const server = { ...published('everything'), timeout: '1 minute', tools: { echo: settings } }
  const tools = await (await usePack({ everything: server })).tools()
  const named = (name: string): unknown => tools.find((tool) => tool.name === `mcp__everything__${name}`)
  expect(named('echo')).toMatchObject({ effect: 'pure', kind: 'readonly', timeoutMs: 5000 })
  expect(named('echo')).not.toHaveProperty('ordered')
  expect(named('get-sum')).toMatchObject({ effect: 'non_idempotent', timeoutMs: 60_000 })
})

it('reads pictures, structured content and links', async () => {
  const pack = await usePack({ all: published('everything') })
  const picture = await pack.call('mcp__all__get-tiny-image')
  expect(picture.parts?.[1]).toMatchObject({ type: 'image', mimeType: 'image/png' })
  const weather = await pack.call('mcp__all__get-structured-content', { location: 'Chicago' })
  expect(weather.content).toContain('"temperature":36')
  expect(weather.details).toEqual({ structuredContent: expect.objectContaining({ temperature: 36 }) })
  const links = await pack.call('mcp__all__get-resource-links', { count: 2 })
  expect(links.content).toMatch(/\[resource demo:\/\/resource\/dynamic\/\w+\/1, /)
})

it('lists and reads resources, of the named server or of the only one that has them', async () => {
  const pack = await usePack({ one: published('everything'), memory: published('memory') })
  const listed = (await pack.call('ListMcpResources')).content
  const uri = /one {2}(demo:\/\/resource\/static\/document\/features\.md) /.exec(listed)?.[1] as string
  expect(listed).toContain('demo://resource/dynamic/text/{resourceId}')
  expect((await pack.call('ReadMcpResource', { uri })).content).toMatch(/^\[resource demo:.*, text\/markdown\]\n# /)
  const blob = await pack.call('ReadMcpResource', { server: 'one', uri: 'demo://resource/dynamic/blob/1' })
  expect(blob.content).toMatch(/^\[resource demo:\/\/resource\/dynamic\/blob\/1, text\/plain, \d+ bytes: /)
  expect(await pack.call('ReadMcpResource', { server: 'two', uri })).toMatchObject({
    isError: true,
    content: 'There is no MCP server "two" with resources. There are: one, memory',
  })
})

it('asks which server is meant when several have the resource', async () => {
  const pack = await usePack({ one: published('everything'), two: published('everything') })
  const uri = 'demo://resource/static/document/features.md'
  expect((await pack.call('ReadMcpResource', { uri })).content).toBe(
    `Several servers have ${uri}: name one of one, two`,
  )
  expect((await pack.call('ReadMcpResource', { uri: 'demo://none' })).content).toMatch(/^No server lists demo:\/\/none/)
  expect(await pack.call('ReadMcpResource', { uri, server: 'two' })).toMatchObject({ isError: false })
})

it('loads prompts with their arguments, as the list in the description says', async () => {
  const pack = await usePack({ all: published('everything') })
  const tool = (await pack.tools()).find(({ name }) => name === 'GetMcpPrompt')
  expect(tool?.description).toContain('- all:args-prompt(city*, state): A prompt with two arguments')
  const prompt = { name: 'all:args-prompt', arguments: { city: 'Oslo' } }
  expect((await pack.call('GetMcpPrompt', prompt)).content).toBe("What's weather in Oslo?")
  expect(await pack.call('GetMcpPrompt', { name: 'all:none' })).toMatchObject({ isError: true })
})

it('starts a program for each session where the agent says so, in a folder of that session', async () => {
  const folders: Record<string, string> = { a: realpathSync(useFolder()), b: realpathSync(useFolder()) }
  const pack = await usePack({
    files: ({ sessionId }) => published('filesystem', folders[sessionId] as string),
  })
  const [a, b] = [testContext({ sessionId: 'a' }), testContext({ sessionId: 'b' })]
  writeFileSync(join(folders['a'] as string, 'note.txt'), 'of a')
  const path = join(folders['a'] as string, 'note.txt')
  expect((await pack.call('mcp__files__read_text_file', { path }, a)).content).toBe('of a')
  expect(await pack.call('mcp__files__read_text_file', { path }, b)).toMatchObject({
    isError: true,
    content: expect.stringContaining('Access denied'),
  })
  const written = join(folders['b'] as string, 'new.txt')
  await pack.call('mcp__files__write_file', { path: written, content: 'of b' }, b)
  expect(readFileSync(written, 'utf8')).toBe('of b')
})

it('keeps the state of a program that all sessions share', async () => {
  const pack = await usePack({
    memory: { ...published('memory'), env: { MEMORY_FILE_PATH: join(useFolder(), 'm.json') } },
  })
  const entities = [{ name: 'Oslo', entityType: 'city', observations: ['rainy'] }]
  await pack.call('mcp__memory__create_entities', { entities }, testContext({ sessionId: 'a' }))
  const found = await pack.call('mcp__memory__search_nodes', { query: 'Oslo' }, testContext({ sessionId: 'b' }))
  expect(found.content).toContain('rainy')
})

it('gives a program no variable of the worker except those that were stated', async () => {
  process.env['MCP_TEST_WORKERS_KEY'] = 'of the worker'
  onTestFinished(() => void delete process.env['MCP_TEST_WORKERS_KEY'])
  const pack = await usePack({ all: { ...published('everything'), env: { GIVEN: 'yes' } } })
  const env = JSON.parse((await pack.call('mcp__all__get-env')).content) as Record<string, string>
  const allowed = ['GIVEN', 'HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']
  expect(Object.keys(env).filter((name) => !allowed.includes(name))).toEqual([])
  expect(env['GIVEN']).toBe('yes')
})
