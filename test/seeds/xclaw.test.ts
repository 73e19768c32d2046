/** xclaw's section on tools: a model that knows only text, its registry, its prompt, its loop. */
import { execSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  buildToolsPrompt,
  createStelloAgent,
  extractJSON,
  jsonActions,
  registerTool,
  toolRegistry,
  type Message,
} from '../../src/index.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()
const folder = mkdtempSync(join(tmpdir(), 'seed-xclaw-'))
afterAll(() => rmSync(folder, { recursive: true }))

registerTool(
  {
    name: 'shell',
    description: 'Runs a bash command and returns what it prints',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', description: 'The bash command' },
      },
      required: ['command'],
    },
  },
  ({ command }) => execSync(command, { encoding: 'utf-8', stdio: 'pipe' }),
)

const SYSTEM_PROMPT = `You are an AI assistant named xclaw.

To use a tool, output a JSON object (bare or in a markdown code block):
{"action": "<tool_name>", "<param1>": "<value1>", ...}

To answer directly, output plain text — do NOT use JSON.

Available tools:
${buildToolsPrompt()}`

registerTool(
  {
    name: 'read_file',
    description: 'Reads a file',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where it is' },
      },
      required: ['path'],
    },
  },
  ({ path }) => readFileSync(path, 'utf-8'),
)

const call = { action: 'shell', command: 'ls' }

describe('extractJSON', () => {
  it.each([
    ['bare', '{"action": "shell", "command": "ls"}'],
    ['in a json fence, inside prose', 'Here is it:\n```json\n{"action": "shell", "command": "ls"}\n```\nLet me go on…'],
    ['in a plain fence', '```\n{"action": "shell", "command": "ls"}\n```'],
    ['inside prose', 'I call {"action": "shell", "command": "ls"} now.'],
  ])('finds an object %s', (_where, text) => {
    expect(extractJSON(text)).toEqual(call)
  })

  it('repairs what is no JSON, leaves valid JSON as it is, and finds nothing in an answer', () => {
    const found = extractJSON('{"action": "shell", "command": "find . -exec wc {} \\;"}')
    expect(found).toEqual({ action: 'shell', command: 'find . -exec wc {} \\;' })
    expect(extractJSON('{"command": "a \\\\; \\u0041\\n"}')).toEqual({ command: 'a \\; A\n' })
    expect(extractJSON('Russia is the largest country.')).toBeNull()
  })
})

it('buildToolsPrompt describes every tool that exists, so a new tool needs no change of it', () => {
  expect(SYSTEM_PROMPT).toMatch(/Available tools:\n### shell\nRuns a bash command [^#]*\(string\): The bash command$/)
  expect(buildToolsPrompt()).toBe(`### shell
Runs a bash command and returns what it prints
Parameters:
  - command (string): The bash command

### read_file
Reads a file
Parameters:
  - path (string): Where it is`)
  expect(toolRegistry.get('shell')?.description).toBe('Runs a bash command and returns what it prints')
})

describe('the loop', () => {
  it('runs actions, tells the model their results, and ends with plain text', async () => {
    const file = join(folder, 'package.json')
    writeFileSync(file, '{"name": "xclaw"}')
    const replies = [
      JSON.stringify({ action: 'read_file', path: file }),
      `I count.\n\`\`\`json\n{"action": "shell", "command": "find ${folder} -name '*.json' -exec cat {} \\;"}\n\`\`\``,
      '{"action": "shell", "command": "echo lost >&2; exit 3"}',
      '{"action": "search", "query": "Beijing weather"}',
    ]
    let messages: Message[] = []
    const llm = jsonActions(
      async (asked) => {
        messages = asked
        return replies[asked.filter(({ role }) => role === 'assistant').length] ?? 'It has no dependencies.'
      },
      { toolsPrompt: buildToolsPrompt },
    )
    const agent = createStelloAgent({
      name: `seed-xclaw-${process.pid}`,
      llm,
      systemPrompt: 'You are an AI assistant named xclaw.',
      capabilities: { tools: toolRegistry },
      disallowedTools: ['stello_create_session'],
    })
    await stello.serve(agent)
    const session = await stello.client.createSession({ agent: agent.name })
    expect(await (await session.send('Which dependencies?')).result()).toMatchObject({
      text: 'It has no dependencies.',
      rounds: 4,
    })
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    expect(said).toEqual([
      'Which dependencies?',
      'tool output:\n{"name": "xclaw"}',
      'tool output:\n{"name": "xclaw"}',
      expect.stringMatching(/^tool error:\n.*lost/s),
      'error: unknown tool "search". Available: read_file, shell',
    ])
    const [system] = messages
    expect(system?.content).toContain(
      'To use a tool, output a JSON object (bare or in a markdown code block):\n{"action"',
    )
    expect(system?.content).toMatch(/### read_file\nReads a file\nParameters:\n {2}- path.*### shell\nRuns/s)
  })

  it('stops after ten model calls for one input', async () => {
    let asked = 0
    const llm = jsonActions(async () => (asked++, '{"action": "shell", "command": "true"}'))
    const session = await stello.session({ llm, capabilities: { tools: toolRegistry } })
    expect(await (await session.send('go')).result()).toMatchObject({ stopReason: 'max_tool_rounds' })
    expect(asked).toBe(10)
  })
})
