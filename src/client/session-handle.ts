/** One session, from outside. Input travels as signals, which are durable without any worker; answers come from the store. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { WorkflowNotFoundError } from '@temporalio/client'
import { StelloError, isStelloError } from '../core/errors.ts'
import { INLINE_TEXT_LIMIT, type TreeBounds } from '../protocol/limits.ts'
import { UNSTORABLE, jsonBytes, type Message } from '../core/message.ts'
import type { Answer, Decision } from '../protocol/pending.ts'
import { changeBounds, readTree, type BoundedTree } from '../store/bounds.ts'
import { putMessage } from '../store/message-bodies.ts'
import { readQuestions, type InboxQuestion } from '../store/inbox.ts'
import { readInherited, readRecordsSoFar, readWholeRecord, type StoredRecord } from '../store/records.ts'
import { listSessions, type SessionSummary } from '../store/sessions.ts'
import { readSubtree } from '../store/tree.ts'
import {
  MESSAGE_ID_LIMIT,
  MESSAGE_TEXT_LIMIT,
  answerSignal,
  cancelTurnSignal,
  closeSignal,
  messageSignal,
  pauseSignal,
  resumeSignal,
  statsQuery,
} from '../protocol/messages.ts'
import { readAnswer, wrongWord } from '../protocol/pending.ts'
import { type ToolStatsView } from '../protocol/views.ts'
import { askServed } from './ask-served.ts'
import { closeForks } from './close-forks.ts'
import { forkSession } from './fork-session.ts'
import { checkBounds, type ForkOptions } from './options.ts'
import { closeUnopened } from '../store/unopened.ts'
import { mustExist, throwUnknown, type ClientDeps } from './start-session.ts'
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
import { createTurnHandle, refuseRejected, type TurnHandle } from './turn-handle.ts'
import { watchSession, type WatchOptions } from './watch.ts'
import type { StelloEvent } from '../protocol/events.ts'

/** A fork's row exists a moment before its parent's worker starts its workflow. */
const STARTED_WITHIN_MS = 30_000
const STARTING_EVERY_MS = 50

/** What a session has used since it began. */
export interface SessionStats {
  /** Turns, calls and tokens of the session itself; its forks are not counted. */
  totals: { turns: number; modelCalls: number; toolCalls: number; inputTokens: number; outputTokens: number }
  /** Each tool it has called, with how often and how long. */
  tools: ToolStatsView[]
}

/** A person's answer to something that waits for a person. */
export interface AnswerOptions {
  /**
   * To `unknown_outcome`: `done`, `not_done` (whether the call took effect), `retry` (run it again). To `approval`:
   * `approve`, `deny` (whether the call may run).
   */
  decision: Decision
  /** With `done`: what the model reads as the call's result. With `deny`: why, for the model. */
  text?: string
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
   *   SESSION_CLOSED, SESSION_TERMINATED
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
   * Creates a child session. It begins where the last finished exchange of this session ended.
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
   * The whole conversation as the model knows it, inherited part first.
   *
   * @throws StelloError SESSION_NOT_FOUND
   * @example const last = (await session.transcript()).at(-1)
   */
  transcript(): Promise<Message[]>
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
   * The bounds of the tree that this session belongs to, and how many sessions the tree has. With an argument, changes bounds.
   *
   * @throws StelloError INVALID_ARGUMENT naming the bound; SESSION_NOT_FOUND
   * @example await session.bounds({ maxSessions: 2000 })
   */
  bounds(change?: Partial<TreeBounds>): Promise<BoundedTree>
  /**
   * What the session has used since it began. Only a worker can tell.
   *
   * @throws StelloError AGENT_NOT_SERVED when no worker of the agent runs; SESSION_NOT_FOUND, SESSION_CLOSED
   * @example const { totals } = await session.stats()
   */
  stats(): Promise<SessionStats>
}

export function createSessionHandle(deps: ClientDeps, id: string): SessionHandle {
  const { client, db } = deps
  const workflow = client.workflow.getHandle(id)

  /**
   * A missing workflow takes no signals. The row says whether the session was closed, never existed, or is just being
   * forked. A session that was opened between the look at Temporal and the look at the row is found the next time.
   */
  const reach = async <T>(work: () => Promise<T>): Promise<T> => {
    const until = performance.now() + STARTED_WITHIN_MS
    for (let wasOpened = false; ; await delay(STARTING_EVERY_MS)) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error
        const row = await mustExist(db, id)
        if (row.closedAt)
          throw new StelloError('SESSION_CLOSED', `session ${id} is closed`, {
            hint: 'fork it to go on from where it ended',
          })
        if (wasOpened || performance.now() > until) {
          throw new StelloError('SESSION_TERMINATED', `the workflow of session ${id} is gone from Temporal`, {
            hint: `was it terminated there? \`stello recover ${id}\` goes on from where it ended`,
            cause: error,
          })
        }
        wasOpened = row.opened
      }
    }
  }
  const alone = async (signal: () => Promise<void>): Promise<Reached> => {
    await reach(signal)
    return { sessions: 1, lost: [] }
  }
  const own = async (): Promise<StoredRecord[]> => {
    const { gen } = await mustExist(db, id)
    return readRecordsSoFar(db, id, gen)
  }

  return {
    id,
    async send(text, options = {}) {
      const { messageId = randomUUID() } = options
      checkMessage(text, messageId)
      await refuseClosed(id)
      if (options.messageId !== undefined) await refuseRejected(db, id, messageId)
      const big = jsonBytes(text) > INLINE_TEXT_LIMIT
      if (big) await putMessage(db, id, messageId, text)
      await reach(() => workflow.signal(messageSignal, big ? { messageId } : { messageId, text }))
      return createTurnHandle(deps, id, messageId)
    },
    turn: (messageId) => createTurnHandle(deps, id, messageId),
    watch: (options) => watchSession(deps, id, options),
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
    async answer(itemId, { decision, text }) {
      await refuseClosed(id)
      const big = text !== undefined && jsonBytes(text) > INLINE_TEXT_LIMIT
      const textId = big ? `answer-${randomUUID()}` : undefined
      const answer = checkAnswer(await readQuestions(db, [id]), {
        id: itemId,
        decision,
        ...(textId !== undefined && { textId }),
        ...(text !== undefined && !big && { text }),
      })
      if (textId !== undefined && text !== undefined) await putMessage(db, id, textId, text)
      await reach(() => workflow.signal(answerSignal, answer))
    },
    async close(options = {}) {
      const signalled = await reach(async () => {
        try {
          await workflow.signal(closeSignal, options)
          return true
        } catch (error) {
          // Nobody has opened the session: its row is all there is. A workflow that is just being started finds it
          // closed.
          if (error instanceof WorkflowNotFoundError && (await closeUnopened(db, id))) return false
          throw error
        }
      }).catch((error: unknown) => {
        if (!options.cascade || !isStelloError(error) || error.code !== 'SESSION_CLOSED') throw error
        return false
      })
      if (!signalled && options.cascade) await closeForks(deps, id)
    },
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
    async record(seq) {
      const { gen } = await mustExist(db, id)
      const record = await readWholeRecord(db, { sessionId: id, gen, seq })
      if (!record) throw new StelloError('INVALID_ARGUMENT', `session ${id} has no record ${seq}`)
      const { whole, message, at } = record
      return { at, message: whole === undefined ? message : { ...message, content: whole } }
    },
    async tree() {
      await mustExist(db, id)
      return buildTree(await listSessions(db, { ids: await readSubtree(db, id) }), id)
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

  async function refuseClosed(sessionId: string): Promise<void> {
    const row = await mustExist(db, sessionId)
    if (row.closedAt)
      throw new StelloError('SESSION_CLOSED', `session ${sessionId} is closed`, {
        hint: 'fork it to go on from where it ended',
      })
  }
}

function checkAnswer(open: InboxQuestion[], input: unknown): Answer {
  const answer = readAnswer(input)
  if (typeof answer === 'string') throw new StelloError('INVALID_ARGUMENT', `answer: ${answer}`)
  const item = open.find(({ id }) => id === answer.id)
  const problem = item ? wrongWord(item.kind, answer) : `nothing with the id "${answer.id}" waits for an answer`
  if (problem !== undefined) {
    throw new StelloError('INVALID_ARGUMENT', `answer: ${problem}`, {
      hint: '`stello inbox` shows what waits; an item that was answered is no longer there',
    })
  }
  return answer
}

function checkMessage(text: string, messageId: string): void {
  const problem =
    typeof text !== 'string' || text.trim() === ''
      ? 'the message is empty'
      : text.length > MESSAGE_TEXT_LIMIT
        ? `the message has ${text.length} characters, more than ${MESSAGE_TEXT_LIMIT}`
        : messageId === '' || jsonBytes(messageId) > MESSAGE_ID_LIMIT || UNSTORABLE.test(messageId)
          ? `the message id must have 1 to ${MESSAGE_ID_LIMIT} bytes, without NUL and halves of characters`
          : undefined
  if (problem)
    throw new StelloError('INVALID_MESSAGE', problem, {
      hint: 'put long material into a file or a tool the agent can read',
    })
}
