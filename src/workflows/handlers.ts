/**
 * Turns signals and updates into inputs, and answers queries with views. Handlers validate synchronously, put an input
 * into the mailbox and return. They never wait. A problem with a signal becomes an input too. A problem with an update
 * becomes an ApplicationFailure for its caller, because any other error would block the workflow task for good.
 */
import { ApplicationFailure, setDefaultSignalHandler, setHandler, uuid4 } from '@temporalio/workflow'
import { isObject } from '../core/is-object.ts'
import { preview } from '../core/message.ts'
import type { Input } from '../session/inputs.ts'
import { answerProblem, pendingCalls } from '../session/answers.ts'
import { DECISIONS, type Decision } from '../protocol/pending.ts'
import { REMEMBERS, readAnswer, type Answer } from '../protocol/read-answer.ts'
import { fullBy, isKnown } from '../session/queue.ts'
import { status, type SessionState } from '../session/state.ts'
import {
  answerSignal,
  answerUpdate,
  approveSignal,
  approveUpdate,
  cancelTurnSignal,
  cancelTurnUpdate,
  agentReportSignal,
  childReportSignal,
  closeSignal,
  closeUpdate,
  compactSignal,
  compactUpdate,
  denySignal,
  denyUpdate,
  messageSignal,
  messageUpdate,
  pauseSignal,
  pauseUpdate,
  pendingQuery,
  readAgentReport,
  readMessage,
  resumeSignal,
  resumeUpdate,
  stateQuery,
  statsQuery,
  weatherSignal,
  type ReadMessage,
} from '../protocol/temporal-messages.ts'
import { readReport, readWeather } from './read-reports.ts'
import { type PendingView, type SessionView, type ToolStatsView } from '../protocol/views.ts'

/**
 * Keep the order: signals that came earlier are handed over while the handlers are set, so the order is part of the
 * history.
 */
export function setHandlers(session: Session): void {
  const take = takers(session.emit)
  setSignals(take)
  setUpdates(session, take)
  setQueries(session)
}

/** What the handlers see of the session, and `emit`, which takes the inputs they make. */
interface Session {
  emit: (input: Input) => void
  state: () => SessionState
  mailbox: readonly Input[]
  /** Why no more messages are taken by update: they would delay the next run. Undefined: they are taken. */
  crowded: () => string | undefined
}

type Takers = ReturnType<typeof takers>

/** Makes inputs of signals, and of the updates that cannot be refused. A malformed one becomes an input that the session logs. */
function takers(emit: Session['emit']) {
  const answer = (input: unknown): void => {
    const read = readAnswer(input)
    if (typeof read === 'string') emit({ type: 'answerRejected', reason: read, preview: previewOf(input) })
    else emit({ type: 'answered', answer: read })
  }
  return {
    answer,
    approve: (input: unknown): void => answer(said('approve', input)),
    deny: (input: unknown): void => answer(said('deny', input)),
    pause: (message?: unknown): void =>
      emit({ type: 'pauseRequested', ...(typeof message === 'string' && { message: preview(message, 500) }) }),
    resume: (): void => emit({ type: 'resumeRequested' }),
    cancelTurn: (): void => emit({ type: 'cancelRequested' }),
    compact: (): void => emit({ type: 'compactRequested' }),
    close: (options?: { cascade?: boolean }): void =>
      emit({ type: 'closeRequested', cascade: options?.cascade === true }),
    message(input: unknown): void {
      const read = readMessage(input)
      if (typeof read === 'string') emit({ type: 'messageRejected', reason: read, preview: previewOf(input) })
      else emit(received(read))
    },
    childReport(input: unknown): void {
      const report = readReport(input)
      if (report) emit({ type: 'childReported', report })
      else emit({ type: 'messageRejected', reason: 'this is no report of a child', preview: previewOf(input) })
    },
    agentReport(input: unknown): void {
      const report = readAgentReport(input)
      if (report) emit({ type: 'agentReported', report })
      else emit({ type: 'messageRejected', reason: 'this is no report of an agent', preview: previewOf(input) })
    },
    weather(input: unknown): void {
      const report = readWeather(input)
      if (report) emit({ type: 'weatherReported', report })
    },
  }
}

function setSignals({
  message,
  pause,
  resume,
  cancelTurn,
  compact,
  close,
  answer,
  approve,
  deny,
  childReport,
  agentReport,
  weather,
}: Takers): void {
  // Temporal hands earlier signals to each handler when it is set, so all signals of one kind first. The default
  // handler takes all of them in the order in which they came.
  const byName = new Map<string, (input?: never) => void>([
    [messageSignal.name, message],
    [pauseSignal.name, pause],
    [resumeSignal.name, resume],
    [cancelTurnSignal.name, cancelTurn],
    [closeSignal.name, close],
    [compactSignal.name, compact],
    [answerSignal.name, answer],
    [approveSignal.name, approve],
    [denySignal.name, deny],
    [childReportSignal.name, childReport],
    [agentReportSignal.name, agentReport],
    [weatherSignal.name, weather],
  ])
  setDefaultSignalHandler((name, input) => byName.get(name)?.(input as never))
  setHandler(messageSignal, message, {
    description: 'A user message: a text, or {"messageId": "...", "text": "..."}. The same messageId is taken once.',
  })
  setHandler(pauseSignal, pause, { description: 'Nothing new starts until resume. Optional: a reason for people.' })
  setHandler(resumeSignal, resume, { description: 'Goes on after a pause, with the very step that was due.' })
  setHandler(cancelTurnSignal, cancelTurn, {
    description: 'Stops the turn under way, or that of the message that waits to begin; the session stays open.',
  })
  setHandler(compactSignal, compact, {
    description: 'Summarises older messages for the model, between turns. The records stay.',
  })
  setHandler(closeSignal, close, { description: 'Ends the session; {"cascade": true} ends its forks too.' })
  setHandler(answerSignal, answer, {
    description:
      `Answers what waits for a person: {"id": "...", "decision": ${quoted(DECISIONS)}, "text": "...", "values": {...}}. ` +
      'The query pending shows the ids; a text goes with some decisions, and values with answers to forms.',
  })
  setHandler(childReportSignal, childReport, {
    description: 'Sent by a child session that has answered; not for people.',
  })
  setHandler(weatherSignal, weather, {
    description: 'Sent by a model call that waits for its provider; not for people.',
  })
  setHandler(agentReportSignal, agentReport, {
    description: 'Sent by an agent that has ended a turn or was closed; not for people.',
  })
  setHandler(approveSignal, approve, {
    description:
      'Permits a call that waits: its id, or {"id": "...", "args": {...}, "remember": "session"}. With args, the call runs ' +
      `with these; remember permits such calls from now on: ${quoted(REMEMBERS)}.`,
  })
  setHandler(denySignal, deny, {
    description: 'Forbids a call that waits: its id, or {"id": "...", "text": "why, for the model"}.',
  })
  setDefaultSignalHandler(undefined)
}

function setUpdates(session: Session, { pause, resume, cancelTurn, compact, close }: Takers): void {
  const { emit, state, mailbox } = session
  setHandler(
    messageUpdate,
    (input: unknown) => {
      const position = state().queue.length + mailbox.filter(isMessage).length + (state().turn ? 1 : 0)
      const read = readMessage(input)
      if (typeof read === 'string') throw ApplicationFailure.nonRetryable(read, 'INVALID_MESSAGE')
      emit(received(read))
      return { position }
    },
    {
      description: 'Like the signal; answers with the number of messages before it. Needs a running worker.',
      validator: (input: unknown) => refuseMessage(input, session),
    },
  )
  setHandler(pauseUpdate, pause, { description: 'Like the signal.' })
  setHandler(resumeUpdate, resume, { description: 'Like the signal.' })
  setHandler(cancelTurnUpdate, cancelTurn, { description: 'Like the signal.' })
  setHandler(compactUpdate, compact, { description: 'Like the signal.' })
  setHandler(closeUpdate, close, { description: 'Like the signal.' })
  const answering = (definition: typeof answerUpdate, read: (input: unknown) => unknown): void =>
    setHandler(
      definition,
      (input: unknown) => {
        const answer = takeAnswer(read(input), state())
        const before = mailbox.some((waiting) => waiting.type === 'answered' && waiting.answer.id === answer.id)
        if (before) throw ApplicationFailure.nonRetryable(`"${answer.id}" has been answered already`, 'INVALID_ANSWER')
        emit({ type: 'answered', answer })
      },
      {
        description: 'Like the signal; fails when nothing waits under that id. Needs a running worker.',
        validator: (input: unknown) => void takeAnswer(read(input), state()),
      },
    )
  answering(answerUpdate, (input) => input)
  answering(approveUpdate as typeof answerUpdate, (input) => said('approve', input))
  answering(denyUpdate as typeof answerUpdate, (input) => said('deny', input))
}

/** @param input an id, or an answer without its decision */
function said(decision: Decision, input: unknown): unknown {
  return isObject(input) ? { ...input, decision } : { id: input, decision }
}

function setQueries({ state }: Session): void {
  setHandler(stateQuery, () => view(state()), { description: 'What the session is doing.' })
  setHandler(statsQuery, () => ({ totals: state().totals, tools: toolStats(state()) }), {
    description: 'Counts and durations per tool.',
  })
  setHandler(pendingQuery, () => pendingView(state()), { description: 'What waits for a person.' })
}

/** @throws ApplicationFailure INVALID_MESSAGE, SESSION_CLOSED, SESSION_BUSY when the session cannot take it now */
function refuseMessage(input: unknown, { state, mailbox, crowded }: Session): void {
  const read = readMessage(input)
  if (typeof read === 'string') throw ApplicationFailure.nonRetryable(read, 'INVALID_MESSAGE')
  if (state().closing) throw ApplicationFailure.nonRetryable('the session is closed', 'SESSION_CLOSED')
  const crowd = crowded()
  if (crowd) throw ApplicationFailure.nonRetryable(busyText(crowd), 'SESSION_BUSY')
  const known = read.messageId !== undefined && isKnown(state(), read.messageId)
  const full = known ? undefined : fullBy(state(), mailbox.filter(isMessage).length)
  if (full) throw ApplicationFailure.nonRetryable(`${full}: send it once more later`, 'SESSION_BUSY')
}

/** A plain text gets its id here and not while it is read, because a replay does not run validators again. */
function received({ messageId = uuid4(), ...text }: ReadMessage): Input {
  return { type: 'messageReceived', messageId, ...text }
}

function isMessage(input: Input): boolean {
  return input.type === 'messageReceived'
}

/** @throws ApplicationFailure INVALID_ANSWER when the session cannot take it */
function takeAnswer(input: unknown, state: SessionState): Answer {
  const answer = readAnswer(input)
  const problem = typeof answer === 'string' ? answer : answerProblem(state, answer)
  if (problem !== undefined) throw ApplicationFailure.nonRetryable(problem, 'INVALID_ANSWER')
  return answer as Answer
}

function pendingView(state: SessionState): PendingView[] {
  return pendingCalls(state).map(({ call, item: { tell: _tell, ...item } }) => ({
    ...item,
    turn: state.turn?.n ?? 0,
    name: call.name,
    ...(call.title !== undefined && { title: call.title }),
    callId: call.id,
    preview: call.preview,
  }))
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' | ')
}

function busyText(full: string): string {
  return (
    `the session is busy: its run has taken ${full}, and the next run begins only when what runs now has ended. ` +
    'Send the message as a signal, which is still taken, or once more later'
  )
}

function previewOf(input: unknown): string {
  return preview(typeof input === 'string' ? input : (JSON.stringify(input) ?? typeof input), 200)
}

function view(state: SessionState): SessionView {
  const { sessionId, label, pause, turn, queue, turns, seq, totals, lastAnswer, lastStop } = state
  return {
    sessionId,
    label,
    status: status(state),
    queued: queue.length,
    turns,
    records: seq,
    totals,
    lastAnswer,
    ...(pause && { pause }),
    ...(lastStop && { lastStop }),
    ...(turn && {
      turn: {
        n: turn.n,
        round: turn.round,
        phase: turn.phase,
        calls: turn.calls.map(({ name, title, preview: args, status: at }) => {
          return { name, ...(title !== undefined && { title }), preview: args, status: at }
        }),
      },
    }),
  }
}

function toolStats(state: SessionState): ToolStatsView[] {
  return Object.values(state.stats).map((stats) => ({
    ...stats,
    averageDuration: stats.executionCount === 0 ? 0 : stats.totalDuration / stats.executionCount,
  }))
}
