/** The files that `stello create` writes: a package with an agent and a test that runs. */
import { AGENT_TEMPLATE } from './agent-template.ts'

/** @param version of this package */
export function projectFiles(name: string, version: string): Readonly<Record<string, string>> {
  return {
    'package.json': `${JSON.stringify(packageOf(name, version), null, 2)}\n`,
    'README.md': readmeOf(name),
    'agent.ts': AGENT_TEMPLATE,
    'agent.test.ts': TEST,
    '.env.example': 'OPENAI_API_KEY=\n# Another provider that speaks the same protocol:\n# OPENAI_BASE_URL=\n',
    '.gitignore': 'node_modules\n.stello\n.env\n',
  }
}

function readmeOf(name: string): string {
  return `# ${name}

\`\`\`sh
npm install
npm test                 # the agent on real servers, with a model that the test plays
cp .env.example .env     # and write your key into it
npx stello dev           # servers and a worker; a save starts a new one
npx stello start my-agent --message "How late is it in Berlin?" --wait
\`\`\`

\`agent.ts\` is the agent. \`.stello/\` holds the sessions of \`stello dev\`; git leaves it alone.
`
}

function packageOf(name: string, version: string): object {
  return {
    name,
    private: true,
    type: 'module',
    scripts: { dev: 'stello dev', test: 'node --import tsx --test agent.test.ts' },
    dependencies: { 'stello-temporal': `^${version}`, zod: '^4.0.0' },
    devDependencies: { tsx: '^4.0.0' },
  }
}

const TEST = `import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { connectStello } from 'stello-temporal/client'
import { startFakeOpenAI, startTestServers } from 'stello-temporal/testing'
import { startWorker } from 'stello-temporal/worker'

const servers = await startTestServers()
// Plays the model: it asks for the time once, then answers with what the tool said.
const model = await startFakeOpenAI({
  script: ({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? \`It is \${messages.at(-1)?.content}.\`
      : { toolCalls: [{ name: 'current_time', arguments: { timeZone: 'Europe/Berlin' } }] },
})
process.env['OPENAI_BASE_URL'] = model.url
process.env['OPENAI_API_KEY'] = 'any'

const { default: agent } = await import('./agent.ts')
const worker = await startWorker({ agent, ...servers })
const stello = await connectStello(servers)

after(async () => {
  await stello.close()
  await worker.stop()
  await model.close()
  await servers.stop()
})

test('the agent asks its tool for the time', async () => {
  const session = await stello.createSession({ agent: agent.name })
  const turn = await session.send('How late is it in Berlin?')
  assert.match((await turn.result()).text, /^It is .*\\d/)
})
`
