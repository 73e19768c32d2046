/**
 * Writes the streaming pieces of a running step. Pieces are gathered for a moment, written together, and dropped when the step
 * is settled. A card or an update has one row, because only the latest one counts. Writing never slows the step.
 */
import { messageOf } from '../core/errors.ts'
import type { ToolCard } from '../tool/tool-status.ts'
import type { LiveEvent, LiveEvents } from '../protocol/events.ts'
import type { CallNames } from '../protocol/steps.ts'
import { shownNames } from './tool/call-names.ts'
import { isDataError, type Database } from '../store/database/database.ts'
import { appendLive, type LivePiece } from '../store/watching/event-log.ts'

/** How long pieces are gathered. */
const FLUSH_EVERY_MS = 50
/** Wait after a failed write. The next write has everything that came meanwhile. */
const RETRY_AFTER_MS = 500
/**
 * Pieces that are kept while the store does not answer. Older ones are dropped, because the settled step tells
 * everything.
 */
const KEPT = 2000

/** The card of a call that has not ended. The settled step tells the end. */
export type OpenCard = ToolCard & Pick<LiveEvents['tool.status'], 'status'>

export interface LiveStep {
  started(model: string, round: number): void
  text(text: string): void
  /** The next piece of the model's thoughts. */
  reasoning(text: string): void
  /** Replaces the call's card. */
  card(call: CallNames, card: OpenCard): void
  /** Replaces the call's update of this kind. */
  update(call: CallNames, kind: string, update: unknown): void
  /**
   * Forgets pieces that are not written yet, because the settled step tells everything. Waits for pieces that are being
   * written, so that settling the step can remove them.
   */
  end(): Promise<void>
}

export interface LiveWriter {
  step(sessionId: string, stepKey: string, lease: number): LiveStep
  close(): Promise<void>
}

export interface LiveWriting {
  /** Called with each session that has new pieces in the store. */
  notify(sessionId: string): void
  log: { warn(message: string): void }
  /** Called with the number of waiting pieces. */
  queued?(pieces: number): void
}

export function createLiveWriter(db: Database, { notify, log, queued = () => undefined }: LiveWriting): LiveWriter {
  let waiting: LivePiece[] = []
  /**
   * Pieces that are perhaps written, because nobody knows how the write ended. A change to such a piece could be lost.
   */
  const tried = new WeakSet<LivePiece>()
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let writing: Promise<void> = Promise.resolve()

  const write = async (): Promise<void> => {
    const pieces = waiting
    waiting = []
    if (pieces.length === 0) return
    try {
      await appendLive(db, pieces)
      for (const id of new Set(pieces.map((piece) => piece.sessionId))) notify(id)
    } catch (error) {
      if (isDataError(error)) return log.warn(`live output is left out: ${messageOf(error)}`)
      for (const piece of pieces) tried.add(piece)
      waiting = [...pieces, ...waiting].slice(-KEPT)
      schedule(RETRY_AFTER_MS)
      log.warn(`live output is late: ${messageOf(error)}`)
    }
  }
  const schedule = (afterMs: number): void => {
    if (!closed) timer ??= setTimeout(() => void flush(), afterMs)
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write).then(() => queued(waiting.length))
    return writing
  }
  const push = (piece: LivePiece): void => {
    const last = waiting.at(-1)
    const joined = last && !tried.has(last) && isSameStep(last, piece) && joinedText(last.event, piece.event)
    if (joined) {
      last.event = joined
      return
    }
    queued(waiting.push(piece))
    schedule(FLUSH_EVERY_MS)
  }

  return {
    step(sessionId, stepKey, lease) {
      let n = 0
      const latest = new Map<string, LivePiece>()
      const add = (event: LiveEvent, replaces?: number): LivePiece => {
        const piece = { sessionId, stepKey, lease, n: n++, event, ...(replaces !== undefined && { replaces }) }
        push(piece)
        return piece
      }
      const forget = (): void => {
        waiting = waiting.filter((one) => one.sessionId !== sessionId || one.stepKey !== stepKey)
      }
      const replace = (slot: string, event: LiveEvent): void => {
        const before = latest.get(slot)
        if (before && !tried.has(before) && waiting.includes(before)) before.event = event
        else latest.set(slot, add(event, before?.n))
      }
      return {
        started: (model, round) => void add({ type: 'model.started', data: { model, round } }),
        text: (text) => void add({ type: 'message.delta', data: { text } }),
        reasoning: (text) => void add({ type: 'reasoning.delta', data: { text } }),
        card: (call, card) =>
          replace(`card ${call.id}`, { type: 'tool.status', data: { ...shownNames(call), ...card } }),
        update: (call, kind, update) =>
          replace(`${kind} ${call.id}`, { type: 'tool.update', data: { ...shownNames(call), update } }),
        end() {
          forget()
          // A failed write puts its pieces back, so they must be forgotten again.
          return writing.then(forget)
        },
      }
    },
    close() {
      closed = true
      return flush()
    },
  }
}

function isSameStep(one: LivePiece, other: LivePiece): boolean {
  return one.stepKey === other.stepKey && one.sessionId === other.sessionId && one.lease === other.lease
}

/** Neighbouring pieces of text become one row. */
function joinedText(last: LiveEvent, next: LiveEvent): LiveEvent | undefined {
  if (last.type !== 'message.delta' && last.type !== 'reasoning.delta') return undefined
  if (next.type !== last.type) return undefined
  return { type: last.type, data: { text: last.data.text + next.data.text } }
}
