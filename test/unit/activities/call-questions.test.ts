/** What a running call may ask, and what becomes of its attempt. */
import { describe, expect, it } from 'vitest'
import type { AgentPermissions } from '../../../src/index.ts'
import { withQuestions } from '../../../src/activities/tool/call-questions.ts'
import type { AnswerGiven } from '../../../src/protocol/read-answer.ts'
import type { PersonQuestion } from '../../../src/tool/person.ts'
import type { ToolContext } from '../../../src/tool/tool.ts'
import { testContext } from '../capabilities/test-context.ts'

type Work<T> = (ctx: ToolContext) => Promise<T>

const running = <T>(work: Work<T>, answers: AnswerGiven[] = [], given: Partial<ToolContext> = {}) =>
  withQuestions(testContext(given), { answers }, work)

/** The hash under which an answer to the question is found. */
async function hashOf(question: PersonQuestion): Promise<string> {
  const ended = await running((ctx) => ctx.ask(question))
  if (!('asks' in ended)) throw new Error('nothing was asked')
  return ended.asks.form.hash
}

describe('a question without an answer', () => {
  it('ends the attempt and fires the signal, although the tool catches everything', async () => {
    const reached: string[] = []
    let signal: AbortSignal | undefined
    const ended = await running(async (ctx) => {
      signal = ctx.signal
      try {
        await ctx.ask({ message: 'sure?' })
        reached.push('answered')
      } catch {
        reached.push('caught')
      }
      return 'done'
    })
    expect(ended).toMatchObject({ asks: { kind: 'question', about: 'sure?' } })
    expect(signal?.aborted).toBe(true)
    expect(reached).toEqual([])
  })

  it('is asked first if several are asked at once', async () => {
    const ended = await running((ctx) => Promise.all([ctx.ask({ message: 'a?' }), ctx.ask({ message: 'b?' })]))
    expect(ended).toMatchObject({ asks: { about: 'a?' } })
  })

  it('is asked although the tool does not wait for it', async () => {
    const ended = await running(async (ctx) => {
      void ctx.ask({ message: 'sure?' })
      return 'done'
    })
    expect(ended).toMatchObject({ asks: { about: 'sure?' } })
  })

  it('is refused in a session that asks nobody, but an earlier answer still counts', async () => {
    const dontAsk = { permissionMode: 'dontAsk' }
    await expect(running((ctx) => ctx.ask({ message: 'sure?' }), [], dontAsk)).rejects.toMatchObject({
      code: 'TOOL_PERMISSION_DENIED',
      message: 'no person is asked here: decide yourself',
    })
    const given = [{ to: await hashOf({ message: 'sure?' }), text: 'yes' }]
    expect(await running((ctx) => ctx.ask({ message: 'sure?' }), given, dontAsk)).toEqual({ text: 'yes' })
  })
})

describe('an answer', () => {
  it('belongs to one question only: another text, option or form is another question', async () => {
    const asked: PersonQuestion = { message: 'sure?', options: [{ label: 'yes' }] }
    const others: PersonQuestion[] = [
      { message: 'sure?' },
      { ...asked, message: 'really?' },
      { ...asked, options: [{ label: 'no' }] },
      { ...asked, multiSelect: true },
      { ...asked, preview: 'a plan' },
      { ...asked, schema: { type: 'object' } },
    ]
    const hashes = await Promise.all([asked, ...others].map(hashOf))
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(await hashOf({ ...asked })).toBe(hashes[0])
  })
})

describe('the confirmationHandler of the context', () => {
  const confirm = (request: unknown) => async (ctx: ToolContext) => ctx.confirmationHandler?.(request)
  const request = { title: 'Delete', message: 'Delete a.txt?', path: 'a.txt' }

  it('asks for a plain yes, and shows what goes with the request', async () => {
    expect(await running(confirm(request))).toMatchObject({
      asks: {
        about: 'Delete a.txt?',
        form: { header: 'Delete', options: [{ label: 'Yes' }, { label: 'No' }], preview: '{"path":"a.txt"}' },
      },
    })
  })

  it.each([
    [{ text: 'yes' }, true],
    [{ text: 'No' }, false],
    [{ text: 'only the first one' }, false],
    [{ text: 'Yes', declined: true as const }, false],
  ])('with the answer %j is %s', async (answer, confirmed) => {
    const ended = await running(confirm(request))
    const to = ended !== undefined && typeof ended === 'object' ? ended.asks.form.hash : ''
    expect(await running(confirm(request), [{ to, ...answer }])).toBe(confirmed)
  })
})

describe('the time of a confirmation', () => {
  const confirming = (request: unknown, permissions?: AgentPermissions) =>
    withQuestions(testContext(), { answers: [], permissions }, async (ctx) => ctx.confirmationHandler?.(request))
  const message = 'Delete a.txt?'
  const MINUTE = 60_000

  it.each<[string, unknown, AgentPermissions | undefined, [string, unknown]]>([
    [
      'is that of the request',
      { message, expiresIn: '1 minute' },
      undefined,
      ['decline', 'nobody has answered within 1 minute'],
    ],
    ['ends with its default', { message, expiresIn: '1 minute', default: true }, undefined, ['answer', 'Yes']],
    [
      'ends with the other one',
      { message, expiresIn: '1 minute', default: false },
      undefined,
      ['decline', expect.any(String)],
    ],
    ['is that of the agent', message, { expiresIn: MINUTE }, ['decline', 'nobody has answered within 1 minute']],
    ['ends as the agent says', message, { expiresIn: MINUTE, default: 'approve' }, ['answer', 'Yes']],
    [
      'ends as the request says',
      { message, default: false },
      { expiresIn: MINUTE, default: 'approve' },
      ['decline', expect.any(String)],
    ],
  ])('%s', async (_what, request, permissions, [decision, text]) => {
    expect(await confirming(request, permissions)).toMatchObject({
      asks: { expiry: { inMs: MINUTE, otherwise: { decision, text } } },
    })
  })

  it('is none of what people are shown', async () => {
    const asked = await confirming({ message, expiresIn: 1000, default: true })
    expect(asked).not.toHaveProperty('asks.form.preview')
    expect(await confirming(message)).not.toHaveProperty('asks.expiry')
  })

  it.each([
    [{ message, expiresIn: 'soon' }, "expiresIn: 'soon' is not a duration"],
    [{ message, expiresIn: '1 day', default: 'yes' }, 'its default is neither true nor false'],
    [{ message, default: true }, 'it has a default and no expiresIn'],
  ])('%j is refused where it is asked', async (request, problem) => {
    await expect(confirming(request)).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: expect.stringContaining(problem) as string,
    })
  })
})

describe('a question', () => {
  it.each<[string, unknown, string]>([
    ['that is a text', 'sure?', 'it is not an object with a message'],
    ['without a message', { message: ' ' }, 'its message is missing'],
    ['with an option without a label', { message: 'a', options: [{ label: '' }] }, 'the label of an option'],
    ['with a label that nobody can repeat', { message: 'a', options: [{ label: 'x'.repeat(201) }] }, 'the label'],
    ['with too many options', { message: 'a', options: Array(51).fill({ label: 'x' }) }, 'more than 50 options'],
    ['with a form that is no schema', { message: 'a', schema: { type: 'nonsense' } }, 'its schema is not valid'],
    [
      'with a huge form',
      { message: 'a', schema: { type: 'object', description: 'x'.repeat(20_000) } },
      'its schema is longer than 16384 characters',
    ],
  ])('%s is an error of the tool that says what is wrong', async (_what, question, why) => {
    const asking = running((ctx) => ctx.ask(question as PersonQuestion))
    await expect(asking).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: expect.stringContaining(why) as string,
    })
  })

  it('shows people no more than they can read', async () => {
    const long = 'x'.repeat(100_000)
    const question = { message: 'a', header: long, preview: long, options: [{ label: 'b', description: long }] }
    const ended = await running((ctx) => ctx.ask(question))
    expect('asks' in ended && JSON.stringify(ended.asks.form).length).toBeLessThan(40_000)
  })
})

describe('a question with a time', () => {
  const asking = (question: object) => running((ctx) => ctx.ask({ message: 'sure?', ...question }))
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const DAY = 24 * 60 * 60 * 1000

  it('says how long it waits, and what counts after that', async () => {
    expect(await asking({ expiresIn: '2 days', default: { text: 'yes' } })).toMatchObject({
      asks: { expiry: { inMs: 2 * DAY, otherwise: { decision: 'answer', text: 'yes' } } },
    })
    expect(await asking({ expiresIn: '2 days', schema, default: { values: { n: 1 } } })).toMatchObject({
      asks: { expiry: { otherwise: { decision: 'answer', values: { n: 1 } } } },
    })
    expect(await asking({ expiresIn: 365 * DAY })).toMatchObject({
      asks: { expiry: { otherwise: { decision: 'decline', text: 'nobody has answered within 365 days' } } },
    })
  })

  it('is the same question with another time', async () => {
    expect(await hashOf({ message: 'a?', expiresIn: '1 day' })).toBe(await hashOf({ message: 'a?' }))
  })

  it.each([
    [{ expiresIn: -1 }, 'expiresIn: -1 is not a duration of 1 ms to 1 year'],
    [{ expiresIn: '366 days' }, 'is not a duration of 1 ms to 1 year'],
    [{ expiresIn: 'soon' }, "expiresIn: 'soon' is not a duration"],
    [{ default: { text: 'yes' } }, 'it has a default and no expiresIn'],
    [{ expiresIn: '1 day', default: 'yes' }, 'its default does not fit: the answer is empty'],
    [{ expiresIn: '1 day', default: { text: 7 } }, 'the text of its default is no text'],
    [{ expiresIn: '1 day', schema, default: { text: 'yes' } }, 'its default does not fit: the question has a form'],
    [{ expiresIn: '1 day', schema, default: { values: { n: 'x' } } }, 'its default does not fit'],
    [{ expiresIn: '1 day', default: { text: 'x'.repeat(5000) } }, 'its default is longer than 4096 bytes'],
  ])('%j is refused where it is asked', async (question, problem) => {
    await expect(asking(question)).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: expect.stringContaining(problem) as string,
    })
  })
})
