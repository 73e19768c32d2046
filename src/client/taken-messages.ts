/** What a workflow had been given: messages, and a stop, a pause or a close. Read from its history in Temporal. */
import { randomUUID } from 'node:crypto'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { isObject } from '../core/is-object.ts'
import { StelloError, messageOf } from '../core/errors.ts'
import type { Opening } from '../protocol/steps.ts'
import { agentNewsId } from '../protocol/keys.ts'
import {
  agentReportSignal,
  cancelTurnSignal,
  closeSignal,
  messageSignal,
  pauseSignal,
  readAgentReport,
  readMessage,
  resumeSignal,
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

/** What a workflow had been given. */
export interface Taken {
  /** The messages that waited when the run began, and those that came since, in the order of their arrival. */
  messages: Opening[]
  /** The id of the message whose turn was to stop, unless another turn has begun since. */
  stops?: string
  /** The session was to pause, and nobody has resumed it since. */
  pauses?: { message?: string }
  /** The session was to close. */
  closes?: { cascade: boolean }
}

/** @throws StelloError INVALID_ARGUMENT when this client cannot read what the workflow began with */
export async function readTaken({ events }: History, converter: Converter, owner: Owner): Promise<Taken> {
  const read = new Reading(converter, owner)
  const all = events ?? []
  const each = <T>(look: (event: HistoryEvent, read: Reading) => Promise<T>): Promise<T[]> =>
    Promise.all(all.map((event) => look(event, read)))
  const [given, opened, closes] = [await each(messagesOf), await each(openedBy), await each(closeAsked)]
  const pauses = (await each(pauseAsked)).findLast((order) => order !== undefined)
  const known = new Set(given.flat().map(({ messageId }) => messageId))
  // Texts are answered in the order they came in: the ids that nobody sent are theirs. A turn may be begun several times.
  const unsent = [...new Set(opened.flat())].filter((messageId) => !known.has(messageId))
  const named = given.map((messages) =>
    messages.map(({ messageId = unsent.shift() ?? randomUUID(), ...text }) => ({ messageId, ...text })),
  )
  const seen = new Set<string>()
  const messages = named.flat().filter(({ messageId }) => !seen.has(messageId) && seen.add(messageId))
  const stops = stoppedTurn((await each(stopAsked)).lastIndexOf(true), opened, named)
  const closing = closes.filter((close) => close !== undefined)
  return {
    messages,
    ...(stops !== undefined && { stops }),
    ...(pauses && pauses !== 'resume' && { pauses }),
    ...(closing.length > 0 && { closes: { cascade: closing.some(({ cascade }) => cascade) } }),
  }
}

/**
 * A stop means the turn that ran. Before the first turn of the run, it means the first message that waited: a turn that the
 * run began with comes first.
 *
 * @param at the number of the stop among the events; -1: there is none
 * @returns undefined if another turn has begun since: the stop was carried out
 */
function stoppedTurn(at: number, opened: string[][], named: Opening[][]): string | undefined {
  if (at === -1 || opened.slice(at).flat().length > 0) return undefined
  return opened.flat().at(-1) ?? named.slice(0, at + 1).flat()[0]?.messageId
}

async function stopAsked(event: HistoryEvent, read: Reading): Promise<boolean> {
  const begun = await begunWith(event, read)
  if (begun?.state) return begun.state.cancelNext === true || begun.state.turn?.stopping === 'cancelled'
  if (begun) return begun.session.stops === true
  return event.workflowExecutionCancelRequestedEventAttributes != null || orderOf(event)?.name === cancelTurnSignal.name
}

async function pauseAsked(event: HistoryEvent, read: Reading): Promise<{ message?: string } | 'resume' | undefined> {
  const begun = await begunWith(event, read)
  if (begun) return begun.state ? undefined : begun.session.pauses
  const order = orderOf(event)
  if (order?.name === resumeSignal.name) return 'resume'
  if (order?.name !== pauseSignal.name) return undefined
  const message = await read.sent(order.payloads)
  return typeof message === 'string' ? { message } : {}
}

async function closeAsked(event: HistoryEvent, read: Reading): Promise<{ cascade: boolean } | undefined> {
  const begun = await begunWith(event, read)
  if (begun) return begun.state?.closing ?? begun.session.closes
  const order = orderOf(event)
  if (order?.name !== closeSignal.name) return undefined
  const options = await read.sent(order.payloads)
  return { cascade: isObject(options) && options['cascade'] === true }
}

/** A signal, or an update that was accepted. Both have the same names. */
function orderOf(event: HistoryEvent): { name: string; payloads: Payloads } | undefined {
  const signal = event.workflowExecutionSignaledEventAttributes
  if (signal) return { name: signal.signalName ?? '', payloads: signal.input?.payloads }
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input
  return update ? { name: update.name ?? '', payloads: update.args?.payloads } : undefined
}

async function messagesOf(event: HistoryEvent, read: Reading): Promise<ReadMessage[]> {
  const begun = await begunWith(event, read)
  if (begun?.state) return [...(begun.state.turn ? [begun.state.turn.opening] : []), ...begun.state.queue]
  if (begun) return (begun.session.messages ?? []).map((messageId) => ({ messageId }))
  const order = orderOf(event)
  if (order?.name === agentReportSignal.name) {
    const report = readAgentReport(await read.sent(order.payloads))
    return report?.message === undefined ? [] : [{ messageId: agentNewsId(report), text: report.message }]
  }
  if (order?.name !== messageSignal.name) return []
  const message = readMessage(await read.sent(order.payloads))
  // What the workflow refused is not taken.
  return typeof message === 'string' ? [] : [message]
}

async function begunWith(event: HistoryEvent, read: Reading): Promise<SessionInput | undefined> {
  const started = event.workflowExecutionStartedEventAttributes
  return started ? read.start<SessionInput>(started.input?.payloads) : undefined
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
