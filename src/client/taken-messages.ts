/** Which messages a workflow had taken, read from its history in Temporal. */
import { randomUUID } from 'node:crypto'
import { defaultPayloadConverter } from '@temporalio/common'
import type { WorkflowHandle } from '@temporalio/client'
import type { Opening } from '../protocol/steps.ts'
import { messageSignal, messageUpdate, readMessage, type ReadMessage } from '../protocol/messages.ts'
import { type SessionInput } from '../protocol/session-input.ts'

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>
type HistoryEvent = NonNullable<History['events']>[number]

/** Those that waited when the run began and those that came since, in the order of their arrival. */
export function takenMessages({ events }: History): Opening[] {
  const all = events ?? []
  const taken = [...all.flatMap(fromStart), ...all.flatMap(fromOutside)]
  const known = new Set(taken.map(({ messageId }) => messageId))
  // Texts are answered in the order they came in: the ids that nobody sent are theirs. A turn may be begun several times.
  const given = [...new Set(all.flatMap(openingOf))].filter((messageId) => !known.has(messageId))
  const named = taken.map(({ messageId = given.shift() ?? randomUUID(), ...text }) => ({ messageId, ...text }))
  const seen = new Set<string>()
  return named.filter(({ messageId }) => !seen.has(messageId) && seen.add(messageId))
}

function fromStart({ workflowExecutionStartedEventAttributes: started }: HistoryEvent): ReadMessage[] {
  const input = first<SessionInput>(started?.input?.payloads)
  const state = input?.state
  const underWay = state?.turn ? [state.turn.opening] : []
  return state ? [...underWay, ...state.queue] : (input?.session.messages ?? []).map((messageId) => ({ messageId }))
}

function fromOutside(event: HistoryEvent): ReadMessage[] {
  const signal = event.workflowExecutionSignaledEventAttributes
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input
  const payloads =
    signal?.signalName === messageSignal.name
      ? signal.input?.payloads
      : update?.name === messageUpdate.name
        ? update.args?.payloads
        : undefined
  const message = payloads ? readMessage(first(payloads)) : ''
  // What the workflow refused is not taken.
  return typeof message === 'string' ? [] : [message]
}

function openingOf(event: HistoryEvent): string[] {
  const input = first<{ opening?: Opening }>(event.activityTaskScheduledEventAttributes?.input?.payloads)
  return input?.opening ? [input.opening.messageId] : []
}

type Payload = Parameters<typeof defaultPayloadConverter.fromPayload>[0]

/** What people sent by hand may be anything. */
function first<T>(payloads: Payload[] | null | undefined): T | undefined {
  const [payload] = payloads ?? []
  try {
    return payload && (defaultPayloadConverter.fromPayload(payload) as T)
  } catch {
    return undefined
  }
}
