/** Agentrail's document on tools: TypeBox, preconditions, details for people, updates, and profiles. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { expect, it, onTestFinished, vi } from 'vitest'
import { filesystem } from '../../src/capabilities/index.ts'
import { defineProfile, defineSimpleTool, defineTool } from '../../src/index.ts'
import { startFakeAnthropic } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { eventsUntil, useStello } from '../support/session-fixture.ts'
import { obedient, results } from './obedient.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const db = { customers: { findById: async (id: string) => ({ id, plan: 'gold' }) } }
const balances = new Map([['a', 100]])
const getBalance = async (account: string): Promise<number> => {
  const balance = balances.get(account)
  if (balance === undefined) throw new Error(`there is no account ${account}`)
  return balance
}
const doTransfer = async (from: string, _to: string, amount: number): Promise<void> =>
  void balances.set(from, (await getBalance(from)) - amount)

const customerLookupTool = defineTool({
  name: 'customer-lookup',
  label: 'Customer Lookup',
  description: 'Finds a customer by account.',
  parameters: Type.Object({
    accountId: Type.String({ description: 'The account' }),
  }),
  async execute(params) {
    const record = await db.customers.findById(params.accountId)
    return {
      content: [{ type: 'text', text: JSON.stringify(record) }],
      details: record,
    }
  },
})

const pingTool = defineSimpleTool({
  name: 'ping',
  description: 'Is the service there?',
  async execute() {
    return { content: [{ type: 'text', text: 'pong' }], details: null }
  },
})

const transferTool = defineTool({
  name: 'transfer_funds',
  description: 'Sends an amount from one account to another.',
  parameters: Type.Object({
    fromAccountId: Type.String(),
    toAccountId: Type.String(),
    amount: Type.Number({ minimum: 0.01 }),
  }),
  async validate(params) {
    const balance = await getBalance(params.fromAccountId)
    if (balance < params.amount) {
      return { valid: false, reason: 'Insufficient funds' }
    }
    return { valid: true }
  },
  async execute(params) {
    await doTransfer(params.fromAccountId, params.toAccountId, params.amount)
    return { content: [{ type: 'text', text: 'Transfer complete.' }], details: null }
  },
})

const drawing = createGate()
/** Takes long, and returns a picture. */
const drawTool = defineTool({
  name: 'draw',
  label: 'Draw',
  description: 'Draws a picture.',
  parameters: Type.Object({}),
  async execute(_params, ctx) {
    ctx.onUpdate({ percent: 50 })
    await drawing.pass()
    return {
      content: [
        { type: 'text', text: 'a pixel' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      ],
      details: { brush: 'thin' },
    }
  },
})

it('a profile puts tools and packs together, and its session runs them as they were written', async () => {
  const fake = await startFakeAnthropic({ script: obedient })
  onTestFinished(() => fake.close())
  vi.stubEnv('ANTHROPIC_BASE_URL', fake.url)
  onTestFinished(() => void vi.unstubAllEnvs())
  const sandboxManager = { root: await mkdtemp(join(tmpdir(), 'stello-seed-')) }
  onTestFinished(() => rm(sandboxManager.root, { recursive: true }))
  await writeFile(join(sandboxManager.root, 'notes.txt'), 'call back')
  const systemPrompt = 'You help customers.'
  const defaultProfile = defineProfile({
    id: `seed-agentrail-${process.pid}`,
    name: 'Default Assistant',
    agent: {
      model: 'anthropic:claude-sonnet-5',
      prompt: systemPrompt,
      tools: [customerLookupTool, pingTool, transferTool, drawTool],
    },
    capabilities: [filesystem({ sandboxManager })],
  })
  await stello.serve(defaultProfile)
  const session = await stello.client.createSession({ agent: defaultProfile.name })
  const transfer = (fromAccountId: string, amount: number) => ({
    name: 'transfer_funds',
    arguments: { fromAccountId, toAccountId: 'b', amount },
  })
  const first = results(
    session,
    { name: 'customer-lookup', arguments: { accountId: 'a' } },
    { name: 'ping' },
    { name: 'Read', arguments: { file_path: 'notes.txt' } },
    { name: 'draw' },
  )
  const updated = await eventsUntil(session, ({ type }) => type === 'tool.update', { live: true })
  expect(updated.at(-1)?.data).toMatchObject({ name: 'draw', update: { percent: 50 } })
  drawing.open()
  expect(await first).toEqual([
    '{"id":"a","plan":"gold"}',
    'pong',
    expect.stringMatching(/^ {5}1→call back\n/),
    'a pixel\n[image image/png]',
  ])
  expect(await results(session, transfer('a', 500))).toEqual(['Tool precondition failed: Insufficient funds'])
  expect(await results(session, transfer('none', 1))).toEqual(['Tool precondition failed: there is no account none'])
  expect(await results(session, transfer('a', 0))).toEqual([expect.stringMatching(/^TOOL_VALIDATION_ERROR: .*amount/s)])
  expect(balances.get('a')).toBe(100)
  expect(await results(session, transfer('a', 30))).toEqual(['Transfer complete.'])
  expect(balances.get('a')).toBe(70)

  const [request] = fake.requests
  expect(request?.body).toMatchObject({
    model: 'claude-sonnet-5',
    system: [{ text: 'You help customers.' }],
    messages: [{ role: 'user' }],
  })
  expect(JSON.stringify(fake.requests.map(({ body }) => body))).not.toMatch(/thin|Customer Lookup/)

  const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
  const cards = events.filter(({ type, data }) => type === 'tool.status' && data['status'] === 'SUCCESS')
  expect(cards.map(({ data }) => fieldOf(data, 'details'))).toEqual(
    expect.arrayContaining([{ id: 'a', plan: 'gold' }, { brush: 'thin' }]),
  )
})
