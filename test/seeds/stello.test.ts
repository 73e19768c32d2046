/** Stello's document on tools: each of its calls, and what a session makes of it; skills: stello-skills.test.ts. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import {
  ForkProfileRegistryImpl,
  SkillRouterImpl,
  ToolRegistryImpl,
  buildSessionToolList,
  createClaude,
  createStelloAgent,
  tool,
  type Message,
  type SessionFork,
} from '../../src/index.ts'
import { replyBy, scriptedModel, startFakeAnthropic } from '../../src/testing/index.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { obedient, results } from './obedient.ts'

const stello = useStello()
let agents = 0
const newName = (): string => `seed-stello-${process.pid}-${++agents}`

const fetchWeather = async (city: string, unit: 'celsius' | 'fahrenheit' = 'celsius') => ({ city, unit, sky: 'clear' })
const notes: string[] = []
const saveNote = async (note: string): Promise<void> => void notes.push(note)
const searchDocuments = async (query: string): Promise<string[]> => [`about ${query}`]

const weatherTool = tool(
  'get_weather',
  'Tells the weather in a city',
  z.object({
    city: z.string().describe('Name of the city'),
    unit: z.enum(['celsius', 'fahrenheit']).optional().describe('Unit of the temperature'),
  }),
  async (input) => {
    const weather = await fetchWeather(input.city, input.unit)
    return {
      content: [{ type: 'text', text: JSON.stringify(weather) }],
    }
  },
)
const page = async ({ url }: { url: string }) => ({ content: [{ type: 'text' as const, text: `read ${url}` }] })
const webSearchTool = tool('web_search', 'Searches the web', z.object({ url: z.string() }), page, {
  readOnlyHint: true,
  idempotentHint: true,
  title: 'Web search',
})
const saveNoteTool = tool('save_note', 'Keeps a finding', z.object({ note: z.string() }), async ({ note }) => {
  await saveNote(note)
  return { content: [{ type: 'text', text: 'kept' }], isError: false }
})

const toolRegistry = new ToolRegistryImpl()
toolRegistry.register({
  name: 'save_note',
  description: 'Keeps a finding',
  parameters: {
    type: 'object',
    properties: {
      note: { type: 'string', description: 'What to keep' },
    },
    required: ['note'],
  },
  execute: async (args) => {
    await saveNote(args.note as string)
    return { success: true, data: { saved: true } }
  },
})

describe('tools', () => {
  it('of a function and of a registry run in the loop of model and tools', async () => {
    const llm = scriptedModel(obedient)
    const agent = createStelloAgent({
      name: newName(),
      llm,
      capabilities: {
        tools: toolRegistry,
      },
    })
    agent.registerTool(weatherTool)
    await stello.serve(agent)
    const session = await stello.client.createSession({ agent: agent.name })
    expect(
      await results(
        session,
        { name: 'get_weather', arguments: { city: 'Oslo', unit: 'celsius' } },
        { name: 'save_note', arguments: { note: 'Oslo is dry' } },
      ),
    ).toEqual(['{"city":"Oslo","unit":"celsius","sky":"clear"}', '{"saved":true}'])
    expect(notes).toEqual(['Oslo is dry'])
    expect(llm.calls).toHaveLength(2)
  })

  it('stand behind the built-ins in the list of a session', () => {
    const skillRouter = new SkillRouterImpl()
    const profiles = new ForkProfileRegistryImpl()
    expect(buildSessionToolList(toolRegistry, skillRouter, profiles).map(({ name }) => name)).toEqual([
      'stello_create_session',
      'save_note',
    ])
    skillRouter.register({ name: 'a', description: 'A', content: 'Do A.' })
    profiles.register('p', {})
    const sessionTools = buildSessionToolList(toolRegistry, skillRouter, profiles)
    expect(sessionTools.map(({ name }) => name)).toEqual(['activate_skill', 'stello_create_session', 'save_note'])
    const { properties } = (sessionTools[1]?.parameters ?? {}) as { properties: Record<string, { enum?: string[] }> }
    expect(Object.keys(properties).toSorted()).toEqual([
      'context',
      'label',
      'profile',
      'prompt',
      'systemPrompt',
      'vars',
    ])
    expect(properties['profile']?.enum).toEqual(['p'])
  })
})

describe('fork profiles', () => {
  it('decide prompt, model, tools and context of what the model forks', async () => {
    const fake = await startFakeAnthropic({ script: () => 'researched' })
    onTestFinished(() => fake.close())
    vi.stubEnv('ANTHROPIC_BASE_URL', fake.url)
    onTestFinished(() => void vi.unstubAllEnvs())
    const llm = scriptedModel(
      replyBy([
        [/^(user|assistant): /, 'A summary.'],
        [() => true, obedient],
      ]),
    )

    const profiles = new ForkProfileRegistryImpl()
    profiles.register('research', {
      systemPrompt: 'You research a topic in depth.',
      systemPromptMode: 'prepend',
      llm: createClaude({ model: 'claude-sonnet-4-5-20250514' }),
      tools: [webSearchTool, saveNoteTool],
      context: 'inherit',
    })
    profiles.register('strict-format', {
      systemPrompt: 'Every answer is JSON.',
      systemPromptMode: 'append',
    })
    profiles.register('region-expert', {
      systemPrompt: (vars) => `You know studying in ${vars.region}, and only ${vars.region}.`,
      systemPromptMode: 'preset',
    })
    profiles.register('us-child', {
      systemPrompt: 'You help to choose a school in the USA.',
      systemPromptMode: 'preset',
      contextFn: async (parentRecords) => {
        const result = await llm.complete([
          { role: 'system', content: 'Summarise what matters: decisions and preferences.' },
          { role: 'user', content: parentRecords.map((r) => `${r.role}: ${r.content}`).join('\n') },
        ])
        return [{ role: 'assistant', content: result.content! }]
      },
    })
    profiles.register('user-only-context', {
      contextFn: (parentRecords) => parentRecords.filter((r) => r.role === 'user'),
    })
    profiles.register('recent-context', {
      context: 'inherit', // contextFn wins
      contextFn: (parentRecords) => parentRecords.slice(-10),
    })
    const skills = new SkillRouterImpl()
    skills.register({
      name: 'us-study-abroad',
      description: 'Helps to choose a school in the USA',
      content: `When the USA comes up:
1. Open a session with profile "us-child"
2. Put the school into its label
3. Leave systemPrompt out: the profile has it`,
    })
    const forks: SessionFork[] = []
    const agent = createStelloAgent({
      name: newName(),
      llm,
      systemPrompt: 'You advise.',
      capabilities: { profiles, skills },
      onSessionFork: (fork) => void forks.push(fork),
    })
    await stello.serve(agent)
    const main = await stello.client.createSession({ agent: agent.name })
    await ask(main, 'I like MIT')
    const labels = [...profiles.names(), 'plain', 'own']
    const asked: Record<string, object> = {
      research: { systemPrompt: 'The topic is quantum computing.' },
      'strict-format': { systemPrompt: 'You write.' },
      'region-expert': { vars: { region: 'the USA' }, systemPrompt: 'Ignored.' },
      plain: { prompt: 'How can I help?', context: 'none' },
      own: { systemPrompt: 'You count.', context: 'inherit' },
    }
    const [advice, ...read] = await results(
      main,
      { name: 'activate_skill', arguments: { name: 'us-study-abroad' } },
      ...labels.map((label) => ({
        name: 'stello_create_session',
        arguments: { label, ...(profiles.get(label) && { profile: label }), ...asked[label] },
      })),
    )
    expect(advice).toContain('profile "us-child"')
    expect(read.map((result) => (JSON.parse(result) as { label: string }).label)).toEqual(labels)
    expect(forks.map(({ label }) => label).toSorted()).toEqual(labels.toSorted())
    const children = read.map((result) => (JSON.parse(result) as { sessionId: string }).sessionId)
    expect((await main.tree()).children.map(({ id }) => id).toSorted()).toEqual(children.toSorted())

    const shown: Record<string, Message[]> = {}
    for (const [index, id] of children.entries()) {
      const before = llm.calls.length
      await ask(stello.client.session(id), 'hello')
      shown[labels[index] ?? ''] = llm.calls[before]?.messages.slice(0, -1) ?? []
    }
    const asking = { role: 'user', content: expect.stringMatching(/^\[/) }
    const talk = [{ role: 'user', content: 'I like MIT' }, { role: 'assistant', content: 'done' }, asking]
    const system = (content: string): Message => ({ role: 'system', content })
    expect(shown).toEqual({
      research: [],
      'strict-format': [system('You write.\n\nEvery answer is JSON.')],
      'region-expert': [system('You know studying in the USA, and only the USA.')],
      'us-child': [system('You help to choose a school in the USA.'), { role: 'assistant', content: 'A summary.' }],
      'user-only-context': [system('You advise.'), talk[0], asking],
      'recent-context': [system('You advise.'), ...talk],
      plain: [system('You advise.'), { role: 'assistant', content: 'How can I help?' }],
      own: [system('You count.'), ...talk],
    })
    const [request] = fake.requests
    expect(request?.body).toMatchObject({ model: 'claude-sonnet-4-5-20250514' })
    expect(JSON.stringify(request?.body)).toContain(
      'You research a topic in depth.\\n\\nThe topic is quantum computing.',
    )
    expect(request?.body.messages).toHaveLength(3)
    expect(JSON.stringify(request?.body.tools)).toMatch(/save_note.*web_search/)
  })
})

it('the complete example: tools, profile and skill in one agent', async () => {
  const fake = await startFakeAnthropic({ script: () => 'researched' })
  onTestFinished(() => fake.close())
  vi.stubEnv('ANTHROPIC_BASE_URL', fake.url)
  onTestFinished(() => void vi.unstubAllEnvs())
  const toolRegistry = new ToolRegistryImpl()
  toolRegistry.register({
    name: 'search_docs',
    description: 'Searches the documents',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to search for' },
      },
      required: ['query'],
    },
    execute: async (args) => {
      const found = await searchDocuments(args.query as string)
      return { success: true, data: found }
    },
  })
  const profiles = new ForkProfileRegistryImpl()
  profiles.register('deep-research', {
    systemPrompt: 'You research in depth.',
    systemPromptMode: 'prepend',
    llm: createClaude({ model: 'claude-sonnet-4-5-20250514' }),
    tools: [webSearchTool],
    contextFn: async (records) => records.slice(-20),
    skills: ['research-mode'],
  })
  const skills = new SkillRouterImpl()
  skills.register({
    name: 'research-mode',
    description: 'Research in depth',
    content: 'To research in depth, open a session with profile "deep-research".',
  })
  const agent = createStelloAgent({
    name: newName(),
    llm: scriptedModel(obedient),
    capabilities: {
      tools: toolRegistry,
      skills,
      profiles,
    },
  })
  await stello.serve(agent)
  const session = await stello.client.createSession({ agent: agent.name })
  const [found, , forked] = await results(
    session,
    { name: 'search_docs', arguments: { query: 'whales' } },
    { name: 'activate_skill', arguments: { name: 'research-mode' } },
    { name: 'stello_create_session', arguments: { label: 'whales', profile: 'deep-research' } },
  )
  expect(found).toBe('["about whales"]')
  const { sessionId } = JSON.parse(forked ?? '') as { sessionId: string }
  expect(await ask(stello.client.session(sessionId), 'go')).toBe('researched')
  const sees = fake.requests[0]?.body.tools?.map(({ name }) => name)
  expect(sees).toEqual(['activate_skill', 'stello_create_session', 'web_search'])
})
