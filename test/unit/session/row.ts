/**
 * The simulated row of the session: what an opening finds. A session may be young, or its workflow was lost and started
 * anew.
 */
import type { AnnounceInput } from '../../../src/protocol/announcements.ts'
import type { Pause } from '../../../src/core/pause.ts'
import type { OpenSessionInput, OpenSessionOutcome } from '../../../src/protocol/steps.ts'
import type { World } from './ledger.ts'

const PAUSED: Pause = { reason: 'user', message: 'paused before' }
/** What a session that was recovered has behind it. */
const BEHIND = { seq: 4, turn: 2 }

export class Row {
  readonly behind: typeof BEHIND
  /** The message of the turn that was open when the workflow was lost. */
  readonly unanswered?: string
  private pause: Pause | undefined
  private closing = false
  /** The store tells whoever waits for the turn that was lost. */
  closedUnknown = false
  /** No opening has told this workflow how far the session has come. */
  fresh = true
  /** Its context is made when it is opened, and not while it is paused. */
  private readonly isFork: boolean

  constructor({ watcher, choose }: World, awaited: boolean) {
    const recovered = !awaited && choose(4) === 0
    this.behind = recovered ? BEHIND : { seq: 0, turn: 0 }
    this.isFork = !recovered && choose(2) === 0
    if (!recovered) return
    for (let seq = 1; seq <= BEHIND.seq; seq++) watcher.writes(seq, `before ${seq}`)
    if (choose(3) === 0) this.pause = PAUSED
    if (choose(8) === 0) this.closing = true
    if (choose(2) === 0) this.unanswered = 'lost'
    if (this.unanswered !== undefined) watcher.accepted.push(this.unanswered)
  }

  /** The session wants to close. If it was not opened, it knows nothing of the turn that was lost. */
  wanted({ close }: AnnounceInput): void {
    if (close && this.fresh) this.closedUnknown = true
  }

  told({ pause, closing }: AnnounceInput): void {
    if (pause !== undefined) this.pause = pause ?? undefined
    if (closing === true || (closing === 'unopened' && this.fresh && this.behind.turn === 0)) this.closing = true
  }

  opens({ base, turn }: OpenSessionInput, limits: OpenedLimits): OpenSessionOutcome {
    const { fresh, pause, closing, behind, unanswered } = this
    if (fresh && this.isFork && pause && !closing) return { kind: 'failed', pause, found: true }
    this.fresh = false
    return {
      kind: 'opened',
      gen: 0,
      seq: Math.max(base, behind.seq),
      turn: Math.max(turn, behind.turn),
      ...(fresh && pause && { pause }),
      ...(fresh && unanswered !== undefined && { unanswered }),
      ...(closing && { closing: true as const }),
      limits,
      model: { name: 'scripted', timeoutMs: 1000 },
    }
  }
}

type OpenedLimits = Extract<OpenSessionOutcome, { kind: 'opened' }>['limits']
