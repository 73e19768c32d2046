/** Which messages a workflow had taken, read from its history in Temporal. */
import { randomUUID } from 'node:crypto'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { StelloError, messageOf } from '../core/errors.ts'
import type { Opening } from '../protocol/steps.ts'
import { agentNewsId } from '../protocol/keys.ts'
import {
  agentReportSignal,
  messageSignal,
  messageUpdate,
  readAgentReport,
  readMessage,
  type ReadMessage,
} from '../protocol/temporal-messages.ts'
import { type SessionInput } from '../protocol/session-input.ts'

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>
type HistoryEvent = NonNullable<History['events']>[number]

type Converter = Client['options']['loadedDataConverter']
type Payload = Parameters<Converter['payloadConverter']['fromPayload']>[0]
type Payloads = Payload[] | null | undefined

/** The workflow that the payloads belong to: a codec may bind them to it. */
interface Owner {
  namespace: string
  workflowId: string
}

/**
 * The messages that waited when the run began, and those that came since, in the order of their arrival.
 *
 * @throws StelloError INVALID_ARGUMENT when this client cannot read what the workflow began with
 */
export async function takenMessages({ events }: History, converter: Converter, owner: Owner): Promise<Opening[]> {
  const read = new Reading(converter, owner)
  const all = events ?? []
  const [atStart, fromOutside, opened] = await Promise.all([
    Promise.all(all.map((event) => messagesAtStart(event, read))),
    Promise.all(all.map((event) => messageFromOutside(event, read))),
    Promise.all(all.map((event) => openedBy(event, read))),
  ])
  const taken = [...atStart.flat(), ...fromOutside.flat()]
  const known = new Set(taken.map(({ messageId }) => messageId))
  // Texts are answered in the order they came in: the ids that nobody sent are theirs. A turn may be begun several times.
  const given = [...new Set(opened.flat())].filter((messageId) => !known.has(messageId))
  const named = taken.map(({ messageId = given.shift() ?? randomUUID(), ...text }) => ({ messageId, ...text }))
  const seen = new Set<string>()
  return named.filter(({ messageId }) => !seen.has(messageId) && seen.add(messageId))
}

async function messagesAtStart(
  { workflowExecutionStartedEventAttributes: started }: HistoryEvent,
  read: Reading,
): Promise<ReadMessage[]> {
  if (!started) return []
  const input = await read.start<SessionInput>(started.input?.payloads)
  const state = input?.state
  const underWay = state?.turn ? [state.turn.opening] : []
  return state ? [...underWay, ...state.queue] : (input?.session.messages ?? []).map((messageId) => ({ messageId }))
}

async function messageFromOutside(event: HistoryEvent, read: Reading): Promise<ReadMessage[]> {
  const signal = event.workflowExecutionSignaledEventAttributes
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input
  if (signal?.signalName === agentReportSignal.name) {
    const report = readAgentReport(await read.sent(signal.input?.payloads))
    return report?.message === undefined ? [] : [{ messageId: agentNewsId(report), text: report.message }]
  }
  const payloads =
    signal?.signalName === messageSignal.name
      ? signal.input?.payloads
      : update?.name === messageUpdate.name
        ? update.args?.payloads
        : undefined
  const message = payloads ? readMessage(await read.sent(payloads)) : ''
  // What the workflow refused is not taken.
  return typeof message === 'string' ? [] : [message]
}

async function openedBy(
  { activityTaskScheduledEventAttributes: scheduled }: HistoryEvent,
  read: Reading,
): Promise<string[]> {
  if (!scheduled) return []
  const input = await read.activity<{ opening?: Opening }>(scheduled.input?.payloads, scheduled.activityId)
  return input?.opening ? [input.opening.messageId] : []
}

/** Payloads of the session are encoded otherwise than this client decodes. */
export function unreadable(sessionId: string, cause: unknown): StelloError {
  const what = `what Temporal holds of session ${sessionId} cannot be read by this client: ${messageOf(cause)}`
  return new StelloError('INVALID_ARGUMENT', what, {
    hint: 'connect with the dataConverter that its workers have',
    cause,
  })
}

/** First arguments of a history, through the codecs of this client. */
class Reading {
  readonly #converter: Converter
  readonly #owner: Owner

  constructor(converter: Converter, owner: Owner) {
    this.#converter = converter
    this.#owner = owner
  }

  /** What the workflow began with. Throws if this client cannot read it: it would believe that there was nothing. */
  async start<T>(payloads: Payloads): Promise<T | undefined> {
    try {
      return await this.#first<T>(payloads, { type: 'workflow', ...this.#owner })
    } catch (error) {
      throw unreadable(this.#owner.workflowId, error)
    }
  }

  /** The argument of a signal. A person may have sent anything by hand. */
  sent(payloads: Payloads): Promise<unknown> {
    return this.#first(payloads, { type: 'workflow', ...this.#owner }).catch(() => undefined)
  }

  activity<T>(payloads: Payloads, activityId: string | null | undefined): Promise<T | undefined> {
    const context = { type: 'activity' as const, ...this.#owner, isLocal: false, ...(activityId && { activityId }) }
    return this.#first<T>(payloads, context).catch(() => undefined)
  }

  async #first<T>(payloads: Payloads, context: Context): Promise<T | undefined> {
    const { payloadCodecs, payloadConverter } = this.#converter
    const [encoded] = payloads ?? []
    if (!encoded) return undefined
    let decoded = [encoded]
    for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded, context)
    const [payload] = decoded
    return payload && payloadConverter.fromPayload<T>(payload, context)
  }
}

type Context = NonNullable<Parameters<Converter['payloadConverter']['fromPayload']>[1]>
