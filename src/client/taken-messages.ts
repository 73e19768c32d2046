/** Reads from a workflow's history in Temporal what it had been given: messages, and a stop, a pause or a close. */
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

/** The messages and orders that a workflow had been given. */
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
  const all = await Promise.all((events ?? []).map((event) => readEvent(event, read)))
  const opened = all.map(({ opens }) => opens)
  const known = new Set(all.flatMap(({ messages = [] }) => messages).map(({ messageId }) => messageId))
  // Texts are answered in the order they came in: the ids that nobody sent are theirs. A turn may be begun several times.
  const unsent = [...new Set(opened)].filter((messageId) => messageId !== undefined && !known.has(messageId))
  const named = all.map(({ messages = [] }) =>
    messages.map(({ messageId = unsent.shift() ?? randomUUID(), ...text }) => ({ messageId, ...text })),
  )
  const seen = new Set<string>()
  const messages = named.flat().filter(({ messageId }) => !seen.has(messageId) && seen.add(messageId))
  const stops = stoppedTurn(
    all.findLastIndex((given) => given.stops),
    opened,
    named,
  )
  const pauses = all.findLast((given) => given.pauses)?.pauses
  const closes = all.flatMap((given) => given.closes ?? [])
  return {
    messages,
    ...(stops !== undefined && { stops }),
    ...(pauses && pauses !== 'resumed' && { pauses }),
    ...(closes.length > 0 && { closes: { cascade: closes.some(({ cascade }) => cascade) } }),
  }
}

/**
 * A stop means the turn that ran. Before the first turn of the run, it means the first message that waited: a turn that the
 * run began with comes first.
 *
 * @param at the number of the stop among the events; -1: there is none
 * @returns undefined if another turn has begun since: the stop was carried out
 */
function stoppedTurn(at: number, opened: (string | undefined)[], named: Opening[][]): string | undefined {
  if (at === -1 || opened.slice(at).some((messageId) => messageId !== undefined)) return undefined
  const ran = opened.findLast((messageId) => messageId !== undefined)
  return ran ?? named.slice(0, at + 1).flat()[0]?.messageId
}

/** The part of what a workflow was given that one event of its history tells. */
interface Given {
  messages?: ReadMessage[]
  /** The id of the message whose turn begins. */
  opens?: string
  stops?: boolean
  pauses?: { message?: string } | 'resumed' | undefined
  closes?: { cascade: boolean } | undefined
}

async function readEvent(event: HistoryEvent, read: Reading): Promise<Given> {
  const started = event.workflowExecutionStartedEventAttributes
  if (started) return atStart(await read.start<SessionInput>(started.input?.payloads))
  const scheduled = event.activityTaskScheduledEventAttributes
  if (scheduled) {
    const input = await read.activity<{ opening?: Opening }>(scheduled.input?.payloads, scheduled.activityId)
    return input?.opening ? { opens: input.opening.messageId } : {}
  }
  if (event.workflowExecutionCancelRequestedEventAttributes) return { stops: true }
  const signal = event.workflowExecutionSignaledEventAttributes
  if (signal) return fromOutside(signal.signalName ?? '', () => read.sent(signal.input?.payloads))
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input
  return fromOutside(update?.name ?? '', () => read.sent(update?.args?.payloads))
}

function atStart(input: SessionInput | undefined): Given {
  const { state, session } = input ?? {}
  if (!state) {
    const messages = (session?.messages ?? []).map((messageId) => ({ messageId }))
    return { messages, stops: session?.stops === true, pauses: session?.pauses, closes: session?.closes }
  }
  return {
    messages: [...(state.turn ? [state.turn.opening] : []), ...state.queue],
    stops: state.cancelNext === true || state.turn?.stopping === 'cancelled',
    closes: state.closing,
  }
}

/** @param name of a signal, or of an update that was accepted: both have the same names */
async function fromOutside(name: string, sent: () => Promise<unknown>): Promise<Given> {
  switch (name) {
    case messageSignal.name: {
      const message = readMessage(await sent())
      // What the workflow refused is not taken.
      return typeof message === 'string' ? {} : { messages: [message] }
    }
    case agentReportSignal.name: {
      const report = readAgentReport(await sent())
      return report?.message === undefined
        ? {}
        : { messages: [{ messageId: agentNewsId(report), text: report.message }] }
    }
    case cancelTurnSignal.name:
      return { stops: true }
    case pauseSignal.name: {
      const message = await sent()
      return { pauses: typeof message === 'string' ? { message } : {} }
    }
    case resumeSignal.name:
      return { pauses: 'resumed' }
    case closeSignal.name: {
      const options = await sent()
      return { closes: { cascade: isObject(options) && options['cascade'] === true } }
    }
    default:
      return {}
  }
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
