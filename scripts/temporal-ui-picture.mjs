/**
 * Makes the pictures of docs/temporal-ui.md from the real thing: servers of its own, a small tree of sessions, Chromium.
 *
 *   node --import tsx scripts/temporal-ui-picture.mjs [folder]
 */
import { mkdirSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { z } from 'zod'
import { connectStello } from '../src/client/index.ts'
import { openDevServers, removeDevHome } from '../src/dev/dev-servers.ts'
import { ForkProfileRegistryImpl, createStelloAgent, tool } from '../src/index.ts'
import { replyBy, scriptedModel } from '../src/testing/index.ts'
import { startWorker } from '../src/worker.ts'

const folder = process.argv[2] ?? 'docs/pictures'
const COLUMNS = ['Status', 'Workflow ID', 'StelloLabel', 'StelloState'].map((label) => ({ label }))

const pay = tool('pay', 'Pays a bill', z.object({ bill: z.string() }), () => 'paid', { title: 'Pay a bill' })
const agent = createStelloAgent({
  name: 'shop',
  systemTools: true,
  llm: scriptedModel(
    replyBy([
      [
        'open',
        {
          toolCalls: ['Green tea', 'Coffee'].map((label) => ({
            name: 'new_task',
            arguments: { label, message: label },
          })),
        },
      ],
      ['Green tea', { toolCalls: [{ name: 'pay', arguments: { bill: 'tea-17' } }] }],
      ['Coffee', () => new Promise(() => undefined)],
      [() => true, 'Nothing is due today.'],
    ]),
    { name: 'gpt-5.4-mini' },
  ),
  permissions: { mode: 'default', ask: ['pay'] },
  capabilities: { tools: [pay], profiles: new ForkProfileRegistryImpl() },
})

const home = join(await mkdtemp(join(tmpdir(), 'stello-picture-')), '.stello')
const servers = await openDevServers({ home, onProgress: console.log })
const at = { temporalAddress: servers.temporal.address, databaseUrl: servers.postgres.url }
const worker = await startWorker({ agent, ...at, shutdownGraceMs: 0 })
const stello = await connectStello({ ...at, home })
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  chromiumSandbox: false,
})
try {
  mkdirSync(folder, { recursive: true })
  const idle = await stello.createSession({ agent: 'shop', label: 'Orders of today' })
  await (await idle.send('Is something due?')).result()
  const session = await stello.createSession({ agent: 'shop', label: 'Open bills' })
  await session.send('open')
  await waiting(async () => (await stello.inbox()).length > 0)
  const page = await browser.newPage({ viewport: { width: 1100, height: 470 } })
  page.setDefaultTimeout(15_000)
  // What the UI keeps after a person has chosen the columns.
  await page.addInitScript((columns) => {
    localStorage.setItem('namespace-workflow-table-columns', JSON.stringify({ default: columns }))
  }, COLUMNS)
  await page.goto(stello.uiLink() ?? '')
  await page.getByText('Open bills').first().waitFor()
  await page.screenshot({ path: join(folder, 'temporal-list.png') })
  await page.setViewportSize({ width: 1100, height: 1300 })
  await page.goto(stello.uiLink(session.id) ?? '')
  await page.getByText('User Metadata').locator('visible=true').first().click()
  // The UI renders Markdown in a frame of its own.
  await page.frameLocator('iframe').last().getByText('Request Cancellation').waitFor()
  await page.screenshot({
    path: join(folder, 'temporal-session.png'),
    clip: { x: 64, y: 460, width: 1036, height: 760 },
  })
} finally {
  await browser.close()
  await stello.close()
  await worker.stop()
  await servers.stop({ force: true })
  await removeDevHome(home)
}

async function waiting(look) {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 100))
}
