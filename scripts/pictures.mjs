#!/usr/bin/env node
/**
 * Makes docs/pictures from the real thing: servers, workers, scripted models, the page in Chromium. Needs `chromium` on the PATH.
 *
 *   npm run pictures
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { z } from 'zod'
import { createStelloAgent } from '../src/agent/agent.ts'
import { installedChromium } from '../src/capabilities/browser/chromium.ts'
import { connectStello } from '../src/client/index.ts'
import { startTestServers } from '../src/testing/test-servers.ts'
import { serveHttp } from '../src/http/serve-http.ts'
import { replyBy, scriptedModel } from '../src/testing/index.ts'
import { tool } from '../src/tool/tool-function.ts'
import { startWorker } from '../src/worker.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pictures = join(root, 'docs/pictures')
const LARGEST = 150 * 1024
const WIDE = { width: 1160, height: 640 }

const spent = (inputTokens, outputTokens) => ({ inputTokens, outputTokens })
const isTool = ({ role }) => role === 'tool'

/** A researcher that forks a session for each question, and reads. */
const PARTS = ['Harvests by region', 'Prices at auction', 'Freight and fuel']
const read = tool(
  'read_source',
  'Reads a source',
  z.object({ source: z.string() }),
  ({ source }) => `${source}: 12 pages`,
  {
    readOnlyHint: true,
  },
)
const research = createStelloAgent({
  name: 'research',
  llm: scriptedModel(
    replyBy([
      [
        'Why do tea exports fall?',
        {
          content: 'I look at three sides of it at the same time.',
          usage: spent(8200, 240),
          toolCalls: PARTS.map((label) => ({
            name: 'stello_create_session',
            arguments: { label, prompt: `${label}: what do the sources say?` },
          })),
        },
      ],
      [
        'what do the sources say?',
        { usage: spent(5100, 90), toolCalls: [{ name: 'read_source', arguments: { source: 'fao.org/tea-2024' } }] },
      ],
      [
        isTool,
        {
          usage: spent(14_300, 620),
          content: [
            'Exports fell by **12 %** from 2021 to 2024, for three reasons:',
            '',
            '1. Two dry seasons took a fifth of the harvest in the high growing regions.',
            '2. Prices at auction rose, and buyers of bulk tea went elsewhere.',
            '3. Freight stayed 40 % above its level of 2019.',
          ].join('\n'),
        },
      ],
      [({ role }) => role === 'user', { usage: spent(900, 60), content: 'The sources agree on that.' }],
    ]),
  ),
  capabilities: { tools: [read] },
})

/** A coder that asks before anything leaves the machine. */
const publish = tool(
  'publish',
  'Publishes a package',
  z.object({ package: z.string(), tag: z.string() }),
  () => 'published',
)
const choose = tool('choose_registry', 'Asks where to', z.object({}), async (_, ctx) => {
  const { text } = await ctx.ask({
    header: 'Registry',
    message: 'Which registry should version 0.4 go to first? The notes are at https://example.com/release-notes.',
    options: [
      { label: 'public', description: 'everybody can install it at once' },
      { label: 'company', description: 'only our own teams, until Monday' },
    ],
  })
  return text
})
const coder = createStelloAgent({
  name: 'coder',
  llm: scriptedModel(
    replyBy([
      [
        'Release',
        { usage: spent(21_000, 300), toolCalls: [{ name: 'publish', arguments: { package: 'core', tag: 'next' } }] },
      ],
      ['Prepare', { usage: spent(11_000, 200), toolCalls: [{ name: 'choose_registry' }] }],
      ['Move', { usage: spent(31_000, 2400), content: 'All 48 billing tests use the new clock now, and pass.' }],
      ['Compare', { error: { code: 'MODEL_AUTH', message: 'the provider refuses the key (401)' } }],
      [isTool, { usage: spent(3000, 40), content: 'Done.' }],
    ]),
  ),
  permissions: { allow: ['choose_registry'] },
  capabilities: { tools: [publish, choose] },
})

const SESSIONS = [
  { agent: coder, label: 'Move the billing tests to the new clock', text: 'Move them.', state: 'idle' },
  { agent: coder, label: 'Compare three contracts clause by clause', text: 'Compare them.', state: 'paused' },
  { agent: coder, label: 'Prepare the notes of version 0.4', text: 'Prepare them.', state: 'waiting' },
  { agent: coder, label: 'Release version 0.4 of core', text: 'Release it.', state: 'waiting' },
  { agent: research, label: 'Why do tea exports fall?', text: 'Why do tea exports fall?', state: 'idle' },
]

async function until(what, holds) {
  for (let tries = 0; tries < 300; tries++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`it did not come to that: ${what}`)
}

async function shoot(browser, url, name, { colorScheme, ready, viewport = WIDE }) {
  const page = await browser.newPage({ colorScheme, viewport, reducedMotion: 'reduce' })
  await page.goto(url)
  await page.getByText(ready).first().waitFor()
  await page.waitForLoadState('networkidle').catch(() => undefined)
  const path = join(pictures, `${name}.png`)
  await page.screenshot({ path })
  await page.close()
  const { size } = statSync(path)
  if (size > LARGEST) throw new Error(`${path} has ${size} bytes, more than ${LARGEST}`)
  console.log(`${path}: ${Math.round(size / 1024)} KB`)
}

const built = mkdtempSync(join(tmpdir(), 'stello-page-'))
mkdirSync(pictures, { recursive: true })
const vite = [
  join(root, 'node_modules/vite/bin/vite.js'),
  'build',
  '--config',
  'src/web/vite.config.ts',
  '--outDir',
  built,
]
if (spawnSync(process.execPath, vite, { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1)

const servers = await startTestServers()
const stello = await connectStello(servers)
const workers = await Promise.all([research, coder].map((agent) => startWorker({ agent, ...servers })))
const site = await serveHttp({ stello, page: built })
const browser = await chromium.launch({
  executablePath: await installedChromium(),
  chromiumSandbox: process.getuid?.() !== 0,
})
try {
  let last = ''
  for (const { agent, label, text, state } of SESSIONS) {
    const session = await stello.createSession({ agent: agent.name, label })
    await session.send(text)
    await until(`${label} is ${state}`, async () => {
      const now = await session.state()
      return now.state === state && (state !== 'idle' || now.turns > 0)
    })
    last = session.id
  }
  await shoot(browser, `${site.url}/#/`, 'page-sessions', {
    colorScheme: 'dark',
    ready: 'Release version 0.4',
    viewport: { width: 1160, height: 380 },
  })
  await shoot(browser, `${site.url}/#/inbox`, 'page-inbox', {
    colorScheme: 'light',
    ready: 'Approve',
    viewport: { width: 1160, height: 760 },
  })
  await shoot(browser, `${site.url}/#/s/${last}`, 'page-session', { colorScheme: 'dark', ready: 'Freight stayed' })
} finally {
  await browser.close()
  await site.stop()
  await Promise.all(workers.map((worker) => worker.stop()))
  await stello.close()
  await servers.stop()
  rmSync(built, { recursive: true, force: true })
}
