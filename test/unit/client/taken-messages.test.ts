/** Which messages a lost workflow had taken: those, and no others, are answered when it is started again. */
import { defaultPayloadConverter } from '@temporalio/common'
import { expect, it } from 'vitest'
import { takenMessages } from '../../../src/client/taken-messages.ts'

type History = Parameters<typeof takenMessages>[0]

const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] })
const signalled = (message: unknown) => ({
  workflowExecutionSignaledEventAttributes: { signalName: 'message', input: payloads(message) },
})
const opened = (messageId: string) => ({
  activityTaskScheduledEventAttributes: { input: payloads({ opening: { messageId } }) },
})
const taken = (...events: object[]) => takenMessages({ events } as History)

it('leaves out what the workflow refused, whatever people sent by hand', () => {
  const refused = ['', ' ', 7, null, {}, { messageId: '' }, { messageId: 'a', text: 7 }, { messageId: 'b', text: ' ' }]
  expect(taken(...refused.map(signalled), signalled({ messageId: 'c', text: 'hello' }))).toEqual([
    { messageId: 'c', text: 'hello' },
  ])
})

it('knows a text without an id by the turn it was answered in, also behind one that was refused', () => {
  expect(taken(signalled(''), signalled('hello'), opened('given'))).toEqual([{ messageId: 'given', text: 'hello' }])
})

it('does not take a turn that was begun twice for two: the text behind it still waits', () => {
  const [first, second] = taken(signalled('first'), opened('given'), opened('given'), signalled('second'))
  expect(first).toEqual({ messageId: 'given', text: 'first' })
  expect(second?.text).toBe('second')
  expect(second?.messageId).not.toBe('given')
})

it('keeps of an id that was sent several times the first message, as the workflow does', () => {
  const sent = ['first', 'other'].map((text) => signalled({ messageId: 'a', text }))
  expect(taken(...sent)).toEqual([{ messageId: 'a', text: 'first' }])
})
