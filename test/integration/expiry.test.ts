/** Questions and permissions that wait for a limited time, in real sessions. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { InboxQuestion, SessionHandle, TurnHandle } from '../../src/client/index.ts'
import { answerSignal } from '../../src/protocol/temporal-messages.ts'
import { mcp, type McpProgram } from '../../src/capabilities/index.ts'
import type { AgentPermissions } from '../../src/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { badServer } from '../unit/capabilities/mcp/mcp-fixture.ts'
import { eventOf, eventsUntil, useStello, type TestAgent } from '../support/session-fixture.ts'

const stello = useStello()
const SOON = 1500

const llm = (): TestAgent['llm'] =>
  scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'book' }] }],
      [({ role }) => role === 'tool', ({ messages }) => `read: ${messages.at(-1)?.content}`],
    ]),
  )

async function asked(
  agent: Omit<TestAgent, 'llm'>,
): Promise<{ session: SessionHandle; turn: TurnHandle; item: InboxQuestion }> {
  const worker = await stello.work({ ...agent, llm: llm() })
  const session = await stello.client.createSession({ agent: worker.taskQueue, label: 'travel' })
  const turn = await session.send('go')
  const { data } = await eventOf(session, 'pending.opened')
  return { session, turn, item: data as InboxQuestion }
}

const region = (expiresIn: number | string) =>
  asked({
    capabilities: {
      tools: [
        tool('book', 'Books', z.object({}), async (_, ctx) => {
          const { text, expired } = await ctx.ask({ message: 'Which region?', expiresIn, default: { text: 'EU' } })
          return `${text}${expired ? ' by default' : ''}`
        }),
      ],
    },
  })

const permission = (permissions: AgentPermissions) => {
  const ran: string[] = []
  const book = tool('book', 'Books', z.object({}), () => {
    ran.push('ran')
    return 'booked'
  })
  return asked({ permissions, capabilities: { tools: [book] } }).then((at) => ({ ...at, ran }))
}

describe('a question that nobody answers in time', () => {
  it('gets its default, and a later answer is rejected', async () => {
    const { session, turn, item } = await region(SOON)
    expect(item.expiresAt).toBeDefined()
    expect((await turn.result()).text).toBe('read: EU by default')
    const closed = await eventOf(session, 'pending.closed')
    expect(closed.data).toMatchObject({ id: item.id, decision: 'answer', by: 'expired' })
    await stello.client.temporal.workflow
      .getHandle(session.id)
      .signal(answerSignal, { id: item.id, decision: 'answer', text: 'US' } as never)
    expect((await eventOf(session, 'answer.rejected')).data).toMatchObject({ id: item.id })
  })

  it('shows in the inbox until when it waits, and takes an answer before that', async () => {
    const { session, turn, item } = await region('2 days')
    expect(await stello.client.inbox(session.id)).toMatchObject([
      { id: item.id, expiresAt: item.expiresAt, otherwise: { decision: 'answer', text: 'EU' } },
    ])
    await session.answer(item.id, { decision: 'answer', text: 'US' })
    expect((await turn.result()).text).toBe('read: US')
    expect((await eventOf(session, 'pending.closed')).data).toMatchObject({ by: 'person' })
  })

  it('is answered once when the answer comes just as its time ends', async () => {
    const { session, turn, item } = await region(SOON)
    const answering = async (): Promise<void> => {
      for await (const event of session.watch({ live: false })) {
        if (event.type === 'pending.closed') return
        await stello.client.temporal.workflow
          .getHandle(session.id)
          .signal(answerSignal, { id: item.id, decision: 'answer', text: 'US' } as never)
      }
    }
    await answering()
    const { text } = await turn.result()
    expect(['read: US', 'read: EU by default']).toContain(text)
    const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
    expect(events.filter(({ type }) => type === 'pending.closed')).toHaveLength(1)
  })
})

describe('a confirmation that nobody gives in time', () => {
  const booking = (request: object, agent: Omit<TestAgent, 'llm'> = {}) =>
    asked({
      ...agent,
      capabilities: {
        tools: [
          tool(
            'book',
            'Books',
            z.object({}),
            async (_, ctx) => `${await ctx.confirmationHandler?.({ message: 'Book it?', ...request })}`,
            { readOnlyHint: true },
          ),
        ],
      },
    })

  it('is no yes, unless the request says so', async () => {
    const { session, turn, item } = await booking({ expiresIn: SOON })
    expect(item).toMatchObject({ message: 'Book it?', otherwise: { decision: 'decline' } })
    expect((await turn.result()).text).toBe('read: false')
    expect((await eventOf(session, 'pending.closed')).data).toMatchObject({ decision: 'decline', by: 'expired' })
    const { turn: other } = await booking({ expiresIn: SOON, default: true })
    expect((await other.result()).text).toBe('read: true')
  })

  it('waits as long as other permissions of its agent', async () => {
    const { turn } = await booking({}, { permissions: { expiresIn: SOON, default: 'approve' } })
    expect((await turn.result()).text).toBe('read: true')
  })

  it('with a time that is none is no question: the model reads what is wrong', async () => {
    const worker = await stello.work({
      llm: llm(),
      capabilities: {
        tools: [
          tool('book', 'Books', z.object({}), async (_, ctx) =>
            String(await ctx.confirmationHandler?.({ message: 'Book it?', expiresIn: 'soon' })),
          ),
        ],
      },
    })
    const session = await stello.client.createSession({ agent: worker.taskQueue })
    expect((await (await session.send('go')).result()).text).toContain("expiresIn: 'soon' is not a duration")
    expect(await session.pending()).toEqual([])
  })
})

describe('a question of an MCP server that nobody answers in time', () => {
  const learning = async (values?: Record<string, unknown>) => {
    const questions = { expiresIn: SOON, ...(values && { default: values }) }
    const bad: McpProgram = { ...badServer().server, per: 'session', questions }
    const packs = [mcp({ servers: { bad } })]
    const model = scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'mcp__bad__ask' }] }],
        [({ role }) => role === 'tool', ({ messages }) => `read: ${messages.at(-1)?.content}`],
      ]),
    )
    const session = await stello.session({ llm: model, capabilities: { packs } })
    const turn = await session.send('go')
    return { session, text: (await turn.result()).text }
  }

  it('reads the default of its settings', async () => {
    const { session, text } = await learning({ name: 'Ada' })
    expect(text).toContain('accept')
    expect((await eventOf(session, 'pending.closed')).data).toMatchObject({ decision: 'answer', by: 'expired' })
  })

  it('reads that nobody fills in the form where there is none', async () => {
    expect((await learning()).text).toBe('read: decline')
  })
})

describe('a call that nobody permits in time', () => {
  it('is denied, and the model reads that nobody has said anything', async () => {
    const { session, turn, ran } = await permission({ expiresIn: SOON })
    expect((await turn.result()).text).toContain('nobody has said in time whether "book" may run; it was not run')
    expect(ran).toEqual([])
    const decided = (await eventsUntil(session, ({ type }) => type === 'turn.completed')).flatMap((event) =>
      event.type === 'permission.decided' ? [`${event.data.decision} by ${event.data.by}`] : [],
    )
    expect(decided).toEqual(['ask by mode', 'deny by expired'])
  })

  it('runs if its agent says so, but not against a rule that denies', async () => {
    const { turn, ran } = await permission({ expiresIn: SOON, default: 'approve' })
    expect((await turn.result()).text).toBe('read: booked')
    expect(ran).toEqual(['ran'])
  })
})
