/**
 * What streams while a step runs: gathered for a moment, written in one go, dropped when the step is settled. What only
 * the latest counts of (cards, updates) has one row. Never slows the step.
 */
import { messageOf } from '../core/errors.ts'
import type { ToolCard } from '../tool/tool-status.ts'
import type { CallNames } from '../protocol/steps.ts'
import { shownNames } from './tool/call-names.ts'
import { isDataError, type Database } from '../store/database.ts'
import { appendLive, type LivePiece } from '../store/events.ts'

/** How long pieces are gathered. */
const FLUSH_EVERY_MS = 50
/** How long after a write that failed the next one is tried, with all that has come meanwhile. */
const RETRY_AFTER_MS = 500
/** Pieces kept while the store does not answer; older ones are given up: the settled step tells the whole. */
const KEPT = 2000

export interface LiveStep {
  started(model: string, round: number): void
  text(text: string): void
  /** Replaces the call's card. */
  card(call: CallNames, card: ToolCard): void
  /** Replaces what the call told of this kind. */
  update(call: CallNames, kind: string, update: unknown): void
  /** Forgets what is not written yet, since the settled step tells the whole, and waits for what is being written: settling removes it. */
  end(): Promise<void>
}

export interface LiveWriter {
  step(sessionId: string, stepKey: string, lease: number): LiveStep
  close(): Promise<void>
}

export function createLiveWriter(
  db: Database,
  notify: (sessionId: string) => void,
  log: { warn(message: string): void },
  /** Told how many pieces wait. */
  queued: (pieces: number) => void = () => undefined,
): LiveWriter {
  let waiting: LivePiece[] = []
  /** Written perhaps: nobody has heard how it went. A change of such a piece could be lost. */
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
    if (last && !tried.has(last) && continues(last, piece)) {
      last.data = { text: String(last.data['text']) + String(piece.data['text']) }
      return
    }
    queued(waiting.push(piece))
    schedule(FLUSH_EVERY_MS)
  }

  return {
    step(sessionId, stepKey, lease) {
      let n = 0
      const latest = new Map<string, LivePiece>()
      const add = (type: string, data: LivePiece['data'], replaces?: number): LivePiece => {
        const piece = { sessionId, stepKey, lease, n: n++, type, data, ...(replaces !== undefined && { replaces }) }
        push(piece)
        return piece
      }
      const forget = (): void => {
        waiting = waiting.filter((one) => one.sessionId !== sessionId || one.stepKey !== stepKey)
      }
      const replace = (slot: string, type: string, data: LivePiece['data']): void => {
        const before = latest.get(slot)
        if (before && !tried.has(before) && waiting.includes(before)) before.data = data
        else latest.set(slot, add(type, data, before?.n))
      }
      return {
        started: (model, round) => void add('model.started', { model, round }),
        text: (text) => void add('message.delta', { text }),
        card: (call, card) => replace(`card ${call.id}`, 'tool.status', { ...shownNames(call), ...card }),
        update: (call, kind, update) => replace(`${kind} ${call.id}`, 'tool.update', { ...shownNames(call), update }),
        end() {
          forget()
          // A write that fails brings its pieces back.
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

/** Neighbouring pieces of text become one row. */
function continues(last: LivePiece, next: LivePiece): boolean {
  return (
    last.type === 'message.delta' &&
    next.type === 'message.delta' &&
    last.stepKey === next.stepKey &&
    last.sessionId === next.sessionId &&
    last.lease === next.lease
  )
}
