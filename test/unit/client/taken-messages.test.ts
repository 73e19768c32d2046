/** What a lost workflow had been given: it is answered, stopped or closed when the session is started again. */
import { defaultFailureConverter, defaultPayloadConverter, type PayloadCodec } from '@temporalio/common'
import { expect, it } from 'vitest'
import { readTaken } from '../../../src/client/taken-messages.ts'

type History = Parameters<typeof readTaken>[0]

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
const given = (...events: object[]) => readTaken({ events } as History, plain, owner)
const taken = async (...events: object[]) => (await given(...events)).messages

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
  const { messages } = await readTaken({ events } as History, { ...plain, payloadCodecs }, owner)
  expect(messages).toEqual([{ messageId: 'a', text: 'hello' }])
})

it('refuses a history whose beginning it cannot read, and does not take it for empty', async () => {
  const unknown = { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from('?') }
  const started = { workflowExecutionStartedEventAttributes: { input: { payloads: [unknown] } } }
  await expect(taken(started)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    hint: 'connect with the dataConverter that its workers have',
  })
})

const begun = (input: object) => ({ workflowExecutionStartedEventAttributes: { input: payloads(input) } })
const stop = signalled(undefined, 'cancelTurn')
const closed = (options?: object) => signalled(options, 'close')
const [first, second] = ['a', 'b'].map((messageId) => signalled({ messageId, text: 'hello' })) as [object, object]
const cancelled = { workflowExecutionCancelRequestedEventAttributes: {} }
const byUpdate = (name: string) => ({
  workflowExecutionUpdateAcceptedEventAttributes: { acceptedRequest: { input: { name, args: payloads(undefined) } } },
})
const queue = [{ messageId: 'b' }]
const turn = { opening: { messageId: 'a' } }

it.each([
  ['of the turn that ran', [first, opened('a'), stop, second], 'a'],
  ['by an update', [first, opened('a'), byUpdate('cancelTurn')], 'a'],
  ['by a request of cancellation', [first, opened('a'), cancelled], 'a'],
  ['of a message that waited', [first, stop, second], 'a'],
  ['of nothing, before a message came', [stop, first], undefined],
  ['that another turn has followed', [first, opened('a'), stop, second, opened('b')], undefined],
  ['that is the second one', [first, opened('a'), stop, second, opened('b'), stop], 'b'],
  ['of a turn that began in an earlier run', [begun({ session: {}, state: { turn, queue } }), stop], 'a'],
  [
    'that an earlier run was given',
    [begun({ session: {}, state: { turn: { ...turn, stopping: 'cancelled' }, queue } })],
    'a',
  ],
  ['of a message that waited in an earlier run', [begun({ session: {}, state: { queue, cancelNext: true } })], 'b'],
  ['that the workflow before it was given', [begun({ session: { messages: ['a', 'b'], stops: true } })], 'a'],
])('finds the turn of a stop %s', async (_, events, stops) => {
  expect((await given(...events)).stops).toBe(stops)
})

it.each([
  ['alone', [closed()], { cascade: false }],
  ['with its forks', [closed({ cascade: true }), closed()], { cascade: true }],
  ['by an update', [byUpdate('close')], { cascade: false }],
  ['since an earlier run', [begun({ session: {}, state: { queue, closing: { cascade: true } } })], { cascade: true }],
  ['since the workflow before it', [begun({ session: { closes: { cascade: false } } })], { cascade: false }],
  ['not at all', [first, opened('a'), stop], undefined],
])('finds a session that was to close %s', async (_, events, closes) => {
  expect((await given(...events)).closes).toEqual(closes)
})

const [pause, resume] = [signalled('lunch', 'pause'), signalled(undefined, 'resume')]

it.each([
  ['with its reason', [resume, pause], { message: 'lunch' }],
  ['without a reason', [signalled(undefined, 'pause')], {}],
  ['by an update', [byUpdate('pause')], {}],
  ['since the workflow before it', [begun({ session: { pauses: { message: 'lunch' } } })], { message: 'lunch' }],
  ['no longer', [pause, resume], undefined],
])('finds a session that was to pause %s', async (_, events, pauses) => {
  expect((await given(...events)).pauses).toEqual(pauses)
})
