/**
 * The simulated row of the session, its turns and its forks: what an opening finds, and what is left when the workflow is
 * lost. A session may be young, or its workflow was lost and started anew before the tape begins.
 */
import type { AnnounceInput } from '../../../src/protocol/announcements.ts'
import type { Pause } from '../../../src/core/pause.ts'
import type { Opening, OpenSessionInput, OpenSessionOutcome } from '../../../src/protocol/steps.ts'
import type { SessionState } from '../../../src/session/state.ts'
import type { World } from './world.ts'

const PAUSED: Pause = { reason: 'user', message: 'paused before' }
/** Open forks of the session: none, some, batches that are full, and a batch that is not. */
const FORKS = [0, 0, 0, 3, 100, 205]

export class Row {
  /** The messages whose turns have ended, in that order. */
  readonly answered: string[] = []
  /** A loss and a reset begin another line of history. */
  gen = 0
  /** The last record that the workflow before this one has left. */
  kept = 0
  /** The message of the turn that was open when the workflow was lost. */
  unanswered: string | undefined
  /** A cascade has reached the session, or began at it: no step begins any more. */
  closing = false
  closed = false
  /** The store tells whoever waits for the turn that was lost. */
  closedUnknown = false
  /** No opening has told this workflow how far the session has come. */
  fresh = true
  /** The first turn that has ended, and the last. */
  firstTurn = 0
  lastTurn = 0
  readonly forks: string[]
  private readonly open = new Map<number, { messageId: string; seq: number }>()
  private readonly world: World
  private pause: Pause | undefined
  /** The run says that its workflow was started anew. */
  private anew = true
  /** Its context is made when it is opened, and not while it is paused. */
  private readonly isFork: boolean
  private configured: boolean

  constructor(world: World, awaited: boolean) {
    this.world = world
    const { watcher, choose } = world
    this.configured = !awaited && choose(4) === 0
    this.isFork = !this.configured && choose(2) === 0
    this.forks = Array.from({ length: FORKS[choose(FORKS.length)] ?? 0 }, (_, i) => `f-${String(i).padStart(3, '0')}`)
    if (!this.configured) return
    this.kept = 4
    this.firstTurn = 1
    this.lastTurn = 2
    for (let seq = 1; seq <= this.kept; seq++) watcher.writes(seq, `before ${seq}`)
    if (choose(3) === 0) this.pause = PAUSED
    if (choose(8) === 0) this.closing = true
    if (choose(2) === 0) this.unanswered = 'lost'
    if (this.unanswered !== undefined) watcher.accepted.push(this.unanswered)
  }

  /** The first claim of a turn writes its message. */
  opens(turn: number, { messageId }: Opening, seq: number): void {
    this.world.watcher.writes(seq, messageId)
    if (turn > this.lastTurn) this.open.set(turn, { messageId, seq })
  }

  ends(turn: number): void {
    const ended = this.open.get(turn)
    if (!ended) return
    this.open.delete(turn)
    this.isAnswered(ended.messageId)
    this.firstTurn ||= turn
    this.lastTurn = turn
  }

  /** A message that was answered before a recovery, and is sent again, keeps its answer. */
  isAnswered(messageId: string): void {
    if (!this.answered.includes(messageId)) this.answered.push(messageId)
  }

  /** The session wants to close. If it was not opened, it knows nothing of the turn that was lost. */
  wanted({ close }: AnnounceInput): void {
    if (close && this.fresh) this.closedUnknown = true
  }

  /** @returns the next forks that are to be told of the close */
  told({ pause, closing, close, endTurn, turn }: AnnounceInput): string[] {
    if (pause !== undefined) this.pause = pause ?? undefined
    if (closing === true || (closing === 'unopened' && !this.configured)) this.closing = true
    if (endTurn?.opening) this.opens(turn, endTurn.opening, endTurn.opening.seq)
    if (endTurn) this.ends(turn)
    if (!close) return []
    if (close.after === undefined) {
      this.closing ||= close.cascade
      this.closed = true
      for (const { messageId } of close.messages) this.isAnswered(messageId)
    }
    const { after = '', limit } = close
    return this.closing || close.after !== undefined ? this.forks.filter((id) => id > after).slice(0, limit) : []
  }

  answers({ turn }: OpenSessionInput, limits: OpenedLimits): OpenSessionOutcome {
    const { anew, pause, closing, unanswered, closed, gen } = this
    if (closed) return { kind: 'closed' }
    if (!this.configured && this.isFork && pause && !closing) return { kind: 'failed', pause, found: true }
    this.configured = true
    this.fresh = this.anew = false
    return {
      kind: 'opened',
      gen,
      seq: turn === 0 ? Math.max(0, ...this.world.watcher.records.keys()) : 0,
      turn: turn === 0 ? this.lastTurn : 0,
      ...(anew && pause && { pause }),
      ...(anew && unanswered !== undefined && { unanswered }),
      ...(closing && { closing: true as const }),
      limits,
      model: { name: 'scripted', timeoutMs: 1000 },
    }
  }

  /** A cascade comes by. The signal for it follows later. */
  mustClose(): void {
    this.closing ||= !this.closed
  }

  /** A run continues another one. It has that one's state, and no other memory. */
  continues({ fresh }: SessionState): void {
    this.anew = fresh === true
  }

  /** The workflow is lost. The turn without an answer is left behind, with its records. */
  loses(): void {
    const [lost] = this.open.values()
    if (lost) this.unanswered = lost.messageId
    else if (this.unanswered !== undefined && this.answered.includes(this.unanswered)) this.unanswered = undefined
    this.gen++
    this.open.clear()
    const { records } = this.world.watcher
    for (const seq of records.keys()) if (lost && seq >= lost.seq) records.delete(seq)
    this.kept = Math.max(0, ...records.keys())
    this.fresh = this.anew = true
    this.closedUnknown = false
    if (this.pause?.reason === 'store_error' || this.pause?.reason === 'agent_error') this.pause = undefined
  }
}

type OpenedLimits = Extract<OpenSessionOutcome, { kind: 'opened' }>['limits']
