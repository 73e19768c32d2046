/** Which messages a lost workflow had taken: only those are answered when it is started again. */
import { defaultFailureConverter, defaultPayloadConverter, type PayloadCodec } from '@temporalio/common'
import { expect, it } from 'vitest'
import { takenMessages } from '../../../src/client/taken-messages.ts'

type History = Parameters<typeof takenMessages>[0]

const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] })
const signalled = (message: unknown, signalName = 'message') => ({
  workflowExecutionSignaledEventAttributes: { signalName, input: payloads(message) },
})
const opened = (messageId: string) => ({
  activityTaskScheduledEventAttributes: { input: payloads({ opening: { messageId } }) },
})
const plain = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: defaultFailureConverter,
  payloadCodecs: [],
}
const owner = { namespace: 'default', workflowId: 's-1' }
const taken = (...events: object[]) => takenMessages({ events } as History, plain, owner)

it('leaves out what the workflow refused, whatever people sent by hand', async () => {
  const refused = ['', ' ', 7, null, {}, { messageId: '' }, { messageId: 'a', text: 7 }, { messageId: 'b', text: ' ' }]
  expect(await taken(...refused.map((one) => signalled(one)), signalled({ messageId: 'c', text: 'hello' }))).toEqual([
    { messageId: 'c', text: 'hello' },
  ])
})

it('knows a text without an id by the turn in which it was answered, also after one that was refused', async () => {
  expect(await taken(signalled(''), signalled('hello'), opened('given'))).toEqual([
    { messageId: 'given', text: 'hello' },
  ])
})

it('does not count a turn twice that was begun twice: the next text still waits', async () => {
  const [first, second] = await taken(signalled('first'), opened('given'), opened('given'), signalled('second'))
  expect(first).toEqual({ messageId: 'given', text: 'first' })
  expect(second?.text).toBe('second')
  expect(second?.messageId).not.toBe('given')
})

it('keeps the first message of an id that was sent several times, as the workflow does', async () => {
  const sent = ['first', 'other'].map((text) => signalled({ messageId: 'a', text }))
  expect(await taken(...sent)).toEqual([{ messageId: 'a', text: 'first' }])
})

it('reads the news of an agent, in the order in which it came, and no report without a message', async () => {
  const report = { childId: 's-2', childGen: 0, childTurn: 1 }
  const told = [report, { ...report, childTurn: 2, message: 'it has finished' }, { message: 'of nobody' }, null]
  const reports = told.map((one) => signalled(one, 'agentReport'))
  expect(await taken(...reports, signalled({ messageId: 'a', text: 'hello' }))).toEqual([
    { messageId: 'agent s-2 0.2', text: 'it has finished' },
    { messageId: 'a', text: 'hello' },
  ])
})

it('reads through the codecs of its client, the last first, each bound to its workflow', async () => {
  const codec = (mark: string): PayloadCodec => ({
    encode: async (all) => all,
    decode: async (all, context) =>
      all.map(({ data, ...rest }) => {
        const text = Buffer.from(data ?? []).toString()
        if (!text.startsWith(`${mark}/${context?.workflowId}/`)) throw new Error(`not of ${mark}`)
        return { ...rest, data: Buffer.from(text.slice(mark.length + owner.workflowId.length + 2)) }
      }),
  })
  const wrap = (value: unknown) => {
    const { data, ...rest } = defaultPayloadConverter.toPayload(value)
    return { ...rest, data: Buffer.concat([Buffer.from('outer/s-1/inner/s-1/'), Buffer.from(data ?? [])]) }
  }
  const signal = { signalName: 'message', input: { payloads: [wrap({ messageId: 'a', text: 'hello' })] } }
  const events = [{ workflowExecutionSignaledEventAttributes: signal }]
  const payloadCodecs = [codec('inner'), codec('outer')]
  expect(await takenMessages({ events } as History, { ...plain, payloadCodecs }, owner)).toEqual([
    { messageId: 'a', text: 'hello' },
  ])
})

it('refuses a history whose beginning it cannot read, and does not take it for empty', async () => {
  const unknown = { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from('?') }
  const started = { workflowExecutionStartedEventAttributes: { input: { payloads: [unknown] } } }
  await expect(taken(started)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    hint: 'connect with the dataConverter that its workers have',
  })
})
