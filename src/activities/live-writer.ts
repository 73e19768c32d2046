/** What streams while a step runs: gathered for a moment, written in one go, dropped when the step is settled. Never slows the step. */
import { messageOf } from '../agent/errors.ts'
import type { ModelDelta } from '../agent/model.ts'
import type { Database } from '../store/database.ts'
import { appendLive, type LivePiece } from '../store/events.ts'

/** How long pieces are gathered. */
const FLUSH_EVERY_MS = 50
/** Pieces kept while the store does not answer; older ones are given up: the settled step tells the whole. */
const KEPT = 2000
/** Of arguments that stream in, in UTF-16 units: each piece holds all so far. */
const ARGUMENTS_SHOWN = 4096

export interface LiveStep {
  started(model: string, round: number): void
  delta(delta: ModelDelta): void
  status(call: { id: string; name: string }, status: 'WAIT' | 'DOING', params: unknown): void
  update(call: { id: string; name: string }, update: unknown): void
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
): LiveWriter {
  let waiting: LivePiece[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  const write = async (): Promise<void> => {
    const pieces = waiting
    waiting = []
    if (pieces.length === 0) return
    try {
      await appendLive(db, pieces)
      for (const id of new Set(pieces.map((piece) => piece.sessionId))) notify(id)
    } catch (error) {
      waiting = [...pieces, ...waiting].slice(-KEPT)
      log.warn(`live output is late: ${messageOf(error)}`)
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write)
    return writing
  }
  const push = (piece: LivePiece): void => {
    const last = waiting.at(-1)
    if (last && mergeable(last, piece)) last.data = merged(last, piece)
    else waiting.push(piece)
    timer ??= setTimeout(() => void flush(), FLUSH_EVERY_MS)
  }

  return {
    step(sessionId, stepKey, lease) {
      let n = 0
      const piece = (type: string, data: Record<string, unknown>): void =>
        push({ sessionId, stepKey, lease, n: n++, type, data })
      const calls = new Map<number, { id: string; name: string; arguments: string }>()
      return {
        started: (model, round) => piece('model.started', { model, round }),
        delta(delta) {
          if (delta.type === 'text') return piece('message.delta', { text: delta.text })
          const known = calls.get(delta.index) ?? { id: '', name: '', arguments: '' }
          if (known.arguments.length >= ARGUMENTS_SHOWN) return
          const call = {
            id: delta.id ?? known.id,
            name: delta.name ?? known.name,
            arguments: known.arguments + delta.arguments,
          }
          calls.set(delta.index, call)
          piece('tool.status', { status: 'WAIT', callId: call.id, name: call.name, arguments: call.arguments })
        },
        status: (call, status, params) => piece('tool.status', { status, callId: call.id, name: call.name, params }),
        update: (call, update) => piece('tool.update', { callId: call.id, name: call.name, update }),
        end() {
          waiting = waiting.filter((one) => one.sessionId !== sessionId || one.stepKey !== stepKey)
          return writing
        },
      }
    },
    close: flush,
  }
}

/** Neighbouring pieces of text, or of one call's arguments, become one row. */
function mergeable(last: LivePiece, next: LivePiece): boolean {
  if (
    last.type !== next.type ||
    last.stepKey !== next.stepKey ||
    last.sessionId !== next.sessionId ||
    last.lease !== next.lease
  )
    return false
  if (next.type === 'message.delta') return true
  return next.data['status'] === 'WAIT' && last.data['status'] === 'WAIT' && last.data['callId'] === next.data['callId']
}

/** Text grows; arguments come whole each time. */
function merged(last: LivePiece, next: LivePiece): LivePiece['data'] {
  if (next.type !== 'message.delta') return next.data
  return { ...last.data, text: String(last.data['text']) + String(next.data['text']) }
}
