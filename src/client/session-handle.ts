/** One session, from outside. Input travels as signals, which are durable without any worker; answers come from the store. */
import { StelloError } from '../core/errors.ts'
import type { TreeBounds } from '../protocol/limits.ts'
import type { Message } from '../core/message.ts'
import { changeBounds, readTree, type BoundedTree } from '../store/sessions/bounds.ts'
import { readQuestions, type InboxQuestion } from '../store/watching/inbox.ts'
import {
  LAST_SEQ,
  readInherited,
  readRecordsSoFar,
  readWholeRecord,
  type StoredRecord,
} from '../store/transcript/records.ts'
import { readRecordPage, type RecordPage, type RecordRange } from '../store/transcript/record-pages.ts'
import { findSummary } from '../store/transcript/load-transcript.ts'
import { listSessions, type SessionSummary } from '../store/sessions/sessions.ts'
import { readTimeline } from '../store/watching/timeline.ts'
import type { TimelineSpan } from '../store/watching/timeline-span.ts'
import { readSubtree } from '../store/sessions/tree.ts'
import {
  cancelTurnSignal,
  compactSignal,
  pauseSignal,
  resumeSignal,
  statsQuery,
} from '../protocol/temporal-messages.ts'
import { type ToolStatsView } from '../protocol/views.ts'
import { askServed } from './ask-served.ts'
import { forkSession } from './fork-session.ts'
import { checkBounds, type ForkOptions } from './options.ts'
import { checkRange } from './reading-options.ts'
import type { ClientDeps } from './client-deps.ts'
import { mustExist, throwUnknown } from './start-session.ts'
import { recoverSession, type RecoverOptions, type Recovered } from './recover-session.ts'
import { buildTree, type SessionTree } from './build-tree.ts'
import {
  cancelTree,
  checkReach,
  pauseTree,
  resumeTree,
  type PauseOptions,
  type Reached,
  type TreeOptions,
} from './reach-tree.ts'
import { closeSession } from './close-session.ts'
import { reachSession } from './reach-session.ts'
import { sendAnswer, type AnswerOptions, type ApproveOptions } from './send-answer.ts'
import { sendMessage } from './send-message.ts'
import { createTurnHandle, type TurnHandle } from './turn-handle.ts'
import { hearAhead } from './wait-for-news.ts'
import { readEvents, type EventPage, type EventsOptions } from './read-events.ts'
import { watchSession, type WatchOptions } from './watch.ts'
import type { StelloEvent } from '../protocol/events.ts'

/** The use of a session since it began. */
export interface SessionStats {
  /** Turns, calls and tokens of the session itself; its forks are not counted. */
  totals: { turns: number; modelCalls: number; toolCalls: number; inputTokens: number; outputTokens: number }
  /** Each tool it has called, with how often and how long. */
  tools: ToolStatsView[]
}

/** What a model reads instead of the beginning of a conversation. */
export interface TranscriptSummary {
  /** How many messages it stands for, from the beginning of the transcript. */
  messages: number
  /** What the model reads. */
  text: string
  /** No model has written it: the messages could not be summarised, and are only left out. */
  cut: boolean
  /** When it was made. */
  at: Date
}

/** One session, from outside. It need not exist: every method then throws SESSION_NOT_FOUND. */
export interface SessionHandle {
  /** The session's id, which is also the id of its workflow in Temporal. */
  readonly id: string
  /**
   * Sends a message. It is durable when this returns. The same `messageId` names the same turn.
   *
   * @param text 1 to 1,048,576 characters
   * @throws StelloError INVALID_MESSAGE, also when the session has refused a message of that id; SESSION_NOT_FOUND,
   *   SESSION_CLOSED, SESSION_TERMINATED; AGENT_NOT_SERVED when it has not started after 30 s
   * @example
   * const turn = await session.send('What happened?', { messageId: 'q1' })
   * console.log((await turn.result()).text)
   */
  send(text: string, options?: { messageId?: string }): Promise<TurnHandle>
  /**
   * The turn that answers a message sent earlier, by any process.
   *
   * @example await session.turn('q1').result()
   */
  turn(messageId: string): TurnHandle
  /**
   * What happens in the session, live: durable events each once and in order, and text while it is produced.
   *
   * Ends when the session is closed, or when `signal` fires.
   *
   * @throws StelloError SESSION_NOT_FOUND; INVALID_ARGUMENT when `from` is no place in this session
   * @example for await (const event of session.watch({ tree: true })) console.log(event.type, event.data)
   */
  watch(options?: WatchOptions): AsyncIterable<StelloEvent>
  /**
   * The durable events that are there now, page by page. A page with fewer than `limit` events has reached the end.
   *
   * @throws StelloError SESSION_NOT_FOUND; INVALID_ARGUMENT when `from` is no place in this session
   * @example
   * const { events, cursor } = await session.events({ tree: true })
   * for await (const event of session.watch({ from: cursor, tree: true })) console.log(event.type)
   */
  events(options?: EventsOptions): Promise<EventPage>
  /**
   * Creates a child session. It begins after the last finished exchange of this session, or of an earlier part (`before`).
   * That works in any state, also while the session is paused.
   *
   * @throws StelloError INVALID_ARGUMENT naming the field that is unknown or has a wrong value
   * @throws StelloError SESSION_EXISTS when `sessionId` names another session, or a fork with other options
   * @throws StelloError TREE_LIMIT when the tree has no room for it; SESSION_NOT_FOUND, SESSION_CLOSED
   * @example const child = await session.fork({ label: 'the second half', context: 'inherit' })
   */
  fork(options: ForkOptions): Promise<SessionHandle>
  /**
   * Nothing new starts until a resume. With `tree`, the same holds for everything below, and for forks that are being
   * created at that moment.
   *
   * @param options a text is the reason
   * @throws StelloError INVALID_ARGUMENT, SESSION_NOT_FOUND; without `tree` SESSION_CLOSED
   * @example const { sessions } = await session.pause({ reason: 'lunch', tree: true })
   */
  pause(options?: string | PauseOptions): Promise<Reached>
  /**
   * Goes on with the step that was due. With `tree`, everything that is paused below goes on too.
   *
   * @throws StelloError SESSION_NOT_FOUND; without `tree` SESSION_CLOSED
   * @example await session.resume({ tree: true })
   */
  resume(options?: TreeOptions): Promise<Reached>
  /**
   * Stops the turn that runs, or the one that is about to begin. With `tree`, the turns below stop too.
   *
   * @throws StelloError SESSION_NOT_FOUND; without `tree` SESSION_CLOSED
   * @example await session.cancelTurn()
   */
  cancelTurn(options?: TreeOptions): Promise<Reached>
  /**
   * The questions that wait for an answer in this session, oldest first.
   *
   * @throws StelloError SESSION_NOT_FOUND
   * @example const [question] = await session.pending()
   */
  pending(): Promise<InboxQuestion[]>
  /**
   * Answers what waits for a person. The answer is durable when this returns. If another answer was faster, that one counts.
   *
   * @param id of an item of `pending()`
   * @throws StelloError INVALID_ARGUMENT when nothing waits under that id, or the decision does not fit the question;
   *   SESSION_NOT_FOUND, SESSION_CLOSED
   * @example await session.answer(question.id, { decision: 'done', text: 'sent' })
   */
  answer(id: string, answer: AnswerOptions): Promise<void>
  /**
   * Permits a call that waits for permission.
   *
   * @param id of an item of `pending()`, of kind `approval`
   * @throws StelloError as `answer`
   * @example await session.approve(item.id, { args: { path: 'b.txt' }, remember: 'session' })
   */
  approve(id: string, options?: ApproveOptions): Promise<void>
  /**
   * Forbids a call that waits for permission.
   *
   * @param id of an item of `pending()`, of kind `approval`
   * @param reason for the model
   * @throws StelloError as `answer`
   * @example await session.deny(item.id, 'not on a Friday')
   */
  deny(id: string, reason?: string): Promise<void>
  /**
   * Has older messages summarised for the model. The same happens by itself when the window of the model fills up. It begins between turns: at
   * once, or when the turn under way has ended. The event `transcript.compacted` tells that it is done; nothing happens if
   * there is too little to summarise. The records stay.
   *
   * @throws StelloError SESSION_NOT_FOUND, SESSION_CLOSED
   * @example await session.compact()
   */
  compact(): Promise<void>
  /**
   * Ends the session. With `cascade`, its forks end too, even when the session itself was closed before.
   *
   * @throws StelloError SESSION_NOT_FOUND; without `cascade` SESSION_CLOSED
   * @example await session.close({ cascade: true })
   */
  close(options?: { cascade?: boolean }): Promise<void>
  /**
   * Starts the session's workflow again after somebody terminated it, or after Temporal lost it. The session goes on from
   * what the store holds. A workflow that runs is left alone.
   *
   * @throws StelloError SESSION_NOT_FOUND, SESSION_CLOSED
   * @example const { restarted } = await session.recover()
   */
  recover(options?: RecoverOptions): Promise<Recovered>
  /**
   * What the session is and does now, as the store knows it: no worker is needed.
   *
   * @throws StelloError SESSION_NOT_FOUND
   * @example const { state, pending } = await session.state()
   */
  state(): Promise<SessionSummary>
  /**
   * The whole conversation, inherited part first. The model may read a summary instead of its beginning.
   *
   * @throws StelloError SESSION_NOT_FOUND
   * @example const last = (await session.transcript()).at(-1)
   */
  transcript(): Promise<Message[]>
  /**
   * A page of the conversation, inherited part first. Each record says whose it is, and whether the model still reads it.
   *
   * @throws StelloError INVALID_ARGUMENT naming the field; SESSION_NOT_FOUND
   * @example
   * for (let from: number | undefined = 0; from !== undefined;) {
   *   const page = await session.records({ from })
   *   for (const { seq, message } of page.records) console.log(seq, message.content)
   *   from = page.next
   * }
   */
  records(range?: RecordRange): Promise<RecordPage>
  /**
   * What the model reads instead of the beginning of the conversation. Undefined: it reads the whole.
   *
   * @throws StelloError SESSION_NOT_FOUND
   * @example const left = (await session.transcript()).slice((await session.summary())?.messages ?? 0)
   */
  summary(): Promise<TranscriptSummary | undefined>
  /**
   * One record of the session itself, in full length, also where the model reads a cut result.
   *
   * @param seq its place in the session, as events name it
   * @throws StelloError INVALID_ARGUMENT when there is no such record; SESSION_NOT_FOUND
   * @example const { message } = await session.record(4)
   */
  record(seq: number): Promise<{ message: Message; at: Date }>
  /**
   * The session and everything below it.
   *
   * @throws StelloError SESSION_NOT_FOUND
   * @example const { children } = await session.tree()
   */
  tree(): Promise<SessionTree>
  /**
   * When each thing in the session and everything below it began and ended: model calls, tool calls, children, waits, pauses,
   * in the order of their beginnings. An attempt whose worker died is a span of its own. At most the newest 5,000 spans are returned.
   * Spans that were rewound are left out if they have written records.
   *
   * @throws StelloError SESSION_NOT_FOUND
   * @example const killed = (await session.timeline()).filter(({ outcome }) => outcome === 'taken_over')
   */
  timeline(): Promise<TimelineSpan[]>
  /**
   * The bounds of the tree that this session belongs to, and how many sessions the tree has. With an argument, changes bounds.
   *
   * @throws StelloError INVALID_ARGUMENT naming the bound; SESSION_NOT_FOUND
   * @example await session.bounds({ maxSessions: 2000 })
   */
  bounds(change?: Partial<TreeBounds>): Promise<BoundedTree>
  /**
   * The use of the session since it began. Only a worker can tell it.
   *
   * @throws StelloError AGENT_NOT_SERVED when no worker of the agent runs; SESSION_NOT_FOUND, SESSION_CLOSED
   * @example const { totals } = await session.stats()
   */
  stats(): Promise<SessionStats>
}

export function createSessionHandle(deps: ClientDeps, id: string): SessionHandle {
  const { client, db } = deps
  const workflow = client.workflow.getHandle(id)
  const reach = <T>(work: () => Promise<T>): Promise<T> => reachSession(deps, id, work)
  const alone = async (signal: () => Promise<void>): Promise<Reached> => {
    await reach(signal)
    return { sessions: 1, lost: [] }
  }
  const own = async (): Promise<StoredRecord[]> => {
    const { gen } = await mustExist(db, id)
    return readRecordsSoFar(db, { sessionId: id, gen })
  }

  return {
    id,
    async send(text, options) {
      // A message with an id of the caller's may be answered already: then nothing more is heard of it.
      const heard = options?.messageId === undefined ? hearAhead(deps.listener, id) : undefined
      try {
        const messageId = await sendMessage(deps, id, { ...options, text })
        return createTurnHandle(deps, { sessionId: id, messageId, heard })
      } catch (error) {
        heard?.stop()
        throw error
      }
    },
    turn: (messageId) => createTurnHandle(deps, { sessionId: id, messageId }),
    watch: (options) => watchSession(deps, id, options),
    events: (options) => readEvents(deps, id, options),
    fork: async (options) => createSessionHandle(deps, await forkSession(deps, id, options)),
    async pause(options) {
      const { reason, tree, ...unknown } = typeof options === 'string' ? { reason: options } : (options ?? {})
      checkReach('pause', { reason, tree, ...unknown }, ['reason', 'tree'])
      return tree ? pauseTree(deps, id, reason) : alone(() => workflow.signal(pauseSignal, reason))
    },
    async resume(options) {
      checkReach('resume', options, ['tree'])
      return options?.tree ? resumeTree(deps, id) : alone(() => workflow.signal(resumeSignal))
    },
    async cancelTurn(options) {
      checkReach('cancelTurn', options, ['tree'])
      return options?.tree ? cancelTree(deps, id) : alone(() => workflow.signal(cancelTurnSignal))
    },
    async pending() {
      await mustExist(db, id)
      return readQuestions(db, [id])
    },
    answer: (itemId, answer) => sendAnswer(deps, id, { id: itemId, ...answer }),
    approve: (itemId, options) => sendAnswer(deps, id, { id: itemId, decision: 'approve', ...options }),
    deny: (itemId, text) => sendAnswer(deps, id, { id: itemId, decision: 'deny', ...(text !== undefined && { text }) }),
    compact: () => reach(() => workflow.signal(compactSignal)),
    close: (options) => closeSession(deps, id, options),
    recover: (options) => recoverSession(deps, id, options),
    async state() {
      const [summary] = await listSessions(db, { ids: [id] })
      if (!summary) await mustExist(db, id)
      return summary as SessionSummary
    },
    async transcript() {
      const records = await own()
      return [...(await readInherited(db, id)), ...records].map((record) => record.message)
    },
    async records(range) {
      const checked = checkRange(range)
      await mustExist(db, id)
      return readRecordPage(db, id, checked)
    },
    async summary() {
      const { gen } = await mustExist(db, id)
      const found = await findSummary(db, { sessionId: id, gen, seq: LAST_SEQ })
      return found && { messages: found.standsFor, text: found.text, cut: found.cut, at: found.madeAt }
    },
    async record(seq) {
      const { gen } = await mustExist(db, id)
      const record = await readWholeRecord(db, { sessionId: id, gen, seq })
      if (!record) throw new StelloError('INVALID_ARGUMENT', `session ${id} has no record ${seq}`)
      const { whole, message, at } = record
      return { at, message: whole === undefined ? message : { ...message, content: whole } }
    },
    async tree() {
      await mustExist(db, id)
      const ids = await readSubtree(db, id)
      return buildTree(await listSessions(db, { ids, limit: ids.length }), id)
    },
    async timeline() {
      await mustExist(db, id)
      return readTimeline(db, await readSubtree(db, id))
    },
    async bounds(change = {}) {
      checkBounds(change)
      if (Object.keys(change).length > 0) await changeBounds(db, id, change)
      return (await readTree(db, id)) ?? throwUnknown(id)
    },
    async stats() {
      const { config } = await mustExist(db, id)
      return askServed(deps, config.agent, () => reach(() => workflow.query(statsQuery)))
    },
  }
}
