/** One session, from outside. Input travels as signals, which are durable without any worker; answers come from the store. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { WorkflowNotFoundError } from '@temporalio/client'
import { StelloError, isStelloError } from '../core/errors.ts'
import type { TreeBounds } from '../protocol/limits.ts'
import { UNSTORABLE, jsonBytes, type Message } from '../core/message.ts'
import type { Answer, Decision } from '../protocol/steps.ts'
import { changeBounds, readTree, type Tree } from '../store/bounds.ts'
import { putMessage } from '../store/messages.ts'
import { readQuestions, type InboxQuestion } from '../store/inbox.ts'
import { readInherited, readRecordsSoFar, readWholeRecord, type StoredRecord } from '../store/records.ts'
import { listSessions, readSubtree, type SessionSummary } from '../store/topology.ts'
import {
  INLINE_TEXT_LIMIT,
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
import { buildTree, type SessionTree } from './tree.ts'
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
import { watchSession, type StelloEvent, type WatchOptions } from './watch.ts'

/** A fork has its row a moment before its parent's worker starts its workflow. */
const STARTED_WITHIN_MS = 30_000
const STARTING_EVERY_MS = 50

export interface SessionStats {
  totals: { turns: number; modelCalls: number; toolCalls: number; inputTokens: number; outputTokens: number }
  tools: ToolStatsView[]
}

export interface AnswerOptions {
  /** `done`, `not_done`: whether the call took effect. `retry`: run it again. */
  decision: Decision
  /** With `done`: what the model reads as the call's result. */
  result?: string
}

export interface SessionHandle {
  readonly id: string
  /**
   * Durable when it returns. The same `messageId` names the same turn.
   *
   * @throws StelloError INVALID_MESSAGE also when the session has refused a message of that id
   */
  send(text: string, options?: { messageId?: string }): Promise<TurnHandle>
  /** The turn that answers a message sent earlier, by any process. */
  turn(messageId: string): TurnHandle
  watch(options?: WatchOptions): AsyncIterable<StelloEvent>
  /**
   * @throws StelloError INVALID_ARGUMENT naming the field that is unknown, or not as it must be
   * @throws StelloError SESSION_EXISTS when `sessionId` names another session, or a fork that was asked for otherwise
   */
  fork(options: ForkOptions): Promise<SessionHandle>
  /**
   * Nothing new is begun until a resume; with `tree` in all that is below too, and in what is being forked at that moment.
   *
   * @param options a text is the reason
   * @throws StelloError INVALID_ARGUMENT, SESSION_NOT_FOUND; without `tree` SESSION_CLOSED
   * @example const { sessions } = await session.pause({ reason: 'lunch', tree: true })
   */
  pause(options?: string | PauseOptions): Promise<Reached>
  /** Goes on with the very step that was due; with `tree`, so does whatever is paused below. */
  resume(options?: TreeOptions): Promise<Reached>
  /** Stops the turn under way, or the one about to begin; with `tree`, below too. */
  cancelTurn(options?: TreeOptions): Promise<Reached>
  /** The questions that wait for an answer in this session, oldest first. */
  pending(): Promise<InboxQuestion[]>
  /**
   * Answers what waits for a person. Durable when it returns; if another answer was faster, that one counts.
   *
   * @param id of an item of `pending()`
   * @throws StelloError INVALID_ARGUMENT when nothing waits under that id, or in wrong words
   */
  answer(id: string, answer: AnswerOptions): Promise<void>
  /**
   * Ends the session; with `cascade` its forks too, also those of a session that is closed.
   *
   * @throws StelloError SESSION_CLOSED without `cascade`
   */
  close(options?: { cascade?: boolean }): Promise<void>
  /** Starts a workflow that was terminated or lost again, from what the store holds; does nothing to one that runs. */
  recover(options?: RecoverOptions): Promise<Recovered>
  state(): Promise<SessionSummary>
  /** The whole conversation as the model knows it, inherited part first. */
  transcript(): Promise<Message[]>
  /** One own record in full length, also where the model reads a cut result. */
  record(seq: number): Promise<{ message: Message; at: Date }>
  tree(): Promise<SessionTree>
  /**
   * What bounds the tree this session belongs to, and how many sessions it has. With an argument, states some anew.
   *
   * @throws StelloError INVALID_ARGUMENT
   * @example await session.bounds({ maxSessions: 2000 })
   */
  bounds(change?: Partial<TreeBounds>): Promise<Tree>
  /** @throws StelloError AGENT_NOT_SERVED when no worker runs that could tell */
  stats(): Promise<SessionStats>
}

export function createSessionHandle(deps: ClientDeps, id: string): SessionHandle {
  const { client, db } = deps
  const workflow = client.workflow.getHandle(id)

  /**
   * A workflow that is not there takes no signals: the row says whether it was closed, never existed, or is just being
   * forked. What was opened between the look at Temporal and that at the row is there the next time.
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
    async answer(itemId, { decision, result }) {
      await refuseClosed(id)
      const big = result !== undefined && jsonBytes(result) > INLINE_TEXT_LIMIT
      const resultId = big ? `answer-${randomUUID()}` : undefined
      const answer = checkAnswer(await readQuestions(db, [id]), {
        id: itemId,
        decision,
        ...(resultId !== undefined && { resultId }),
        ...(result !== undefined && !big && { result }),
      })
      if (resultId !== undefined && result !== undefined) await putMessage(db, id, resultId, result)
      await reach(() => workflow.signal(answerSignal, answer))
    },
    async close(options = {}) {
      const signalled = await reach(async () => {
        try {
          await workflow.signal(closeSignal, options)
          return true
        } catch (error) {
          // Nobody has opened it: its row is all there is. A workflow that is just being started finds it closed.
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
      hint: '`stello inbox` shows what waits; what was answered once is no longer there',
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
