/** The simulated ledger: how each step has ended, which calls are parked, and what follows from an answer. */
import type {
  CallModelInput,
  CallResult,
  CallToolInput,
  ModelOutcome,
  LostHow,
  Proposal,
  ToolOutcome,
} from '../../../src/protocol/steps.ts'
import type { Answer } from '../../../src/protocol/read-answer.ts'
import { callRef, usage } from './play.ts'
import type { Row } from './row.ts'
import type { World } from './world.ts'

const NAMES = ['Read', 'Grep', 'constructor', 'new_task']
/** What pauses a session. */
export const AUTH = { reason: 'model_error', message: 'the key was refused' } as const

const DECISIONS = ['done', 'not_done', 'retry'] as const

export class Ledger {
  readonly models = new Map<string, ModelOutcome>()
  readonly tools = new Map<string, CallResult>()
  /** Ids of questions, by the key of the call. */
  readonly open = new Map<string, string>()
  private asked = 0
  private readonly world: World
  private readonly row: Row

  constructor(world: World, row: Row) {
    this.world = world
    this.row = row
  }

  answers({ key, turn, opening, upTo, last }: CallModelInput): ModelOutcome {
    if (opening) this.row.opens(turn, opening, upTo)
    const calls = Array.from({ length: this.world.choose(6) }, () => {
      const name = NAMES[this.world.choose(NAMES.length)] ?? 'Read'
      return callRef(name, { route: name === 'new_task' ? 'task' : 'tool', ...(name === 'Grep' && { ordered: true }) })
    })
    const rests = last || (calls.length === 0 && this.world.choose(4) > 0) || this.world.over()
    const notes = rests && last ? calls.length : 0
    for (let i = 0; i <= notes; i++) this.world.watcher.writes(upTo + 1 + i, `${key} ${i}`)
    const outcome: ModelOutcome = {
      kind: 'answered',
      gen: this.row.gen,
      seq: upTo + 1 + notes,
      text: 'text',
      usage,
      calls: rests ? [] : calls,
      ...(rests && { stopReason: last ? 'max_tool_rounds' : 'end_turn' }),
    }
    this.models.set(key, outcome)
    if (rests) this.row.ends(turn)
    return outcome
  }

  settlesModel(input: CallModelInput, proposed: LostHow, odd: number): ModelOutcome {
    const before = this.models.get(input.key)
    if (before) return before
    if (input.opening && this.row.answered.includes(input.messageId)) return { kind: 'duplicate', gen: this.row.gen }
    if (odd === 1) return this.answers(input)
    const outcome: ModelOutcome =
      proposed === 'cancelled' ? { kind: 'cancelled', gen: this.row.gen } : { kind: 'failed', pause: AUTH }
    if (outcome.kind === 'cancelled') this.models.set(input.key, outcome)
    return outcome
  }

  settles({ key, seq }: CallToolInput, outcome: CallResult): CallResult {
    this.world.watcher.writes(seq, key)
    this.tools.set(key, outcome)
    return outcome
  }

  /** Parks a call. A question that was put before stays as it is. */
  ask(key: string): ToolOutcome {
    const id = this.open.get(key) ?? `${key}@${this.row.gen}.${++this.asked}`
    this.open.set(key, id)
    const expires = ends(id) && { expiresAt: `the end of ${id}` }
    return { kind: 'pending', gen: this.row.gen, item: { id, kind: 'unknown_outcome', ...expires, tell: true } }
  }

  /**
   * What becomes of a call that is not settled: a person is asked, it is given back, or (undefined) it is settled as
   * proposed.
   */
  decide(key: string, proposed: Proposal, odd: number): ToolOutcome | undefined {
    const id = this.open.get(key)
    if (proposed.kind === 'timedOut' && (id !== undefined || odd === 1)) return this.ask(key)
    if (proposed.kind === 'expired') {
      if (proposed.id !== id) return { kind: 'due', gen: this.row.gen }
      this.open.delete(key)
      return odd === 2 ? { kind: 'due', gen: this.row.gen } : undefined
    }
    const { answer } = proposed.kind === 'answered' ? proposed : {}
    const back = answer ? answer.id !== id || answer.decision === 'retry' : proposed.kind === 'timedOut' && odd === 2
    this.open.delete(key)
    return back ? { kind: 'due', gen: this.row.gen } : undefined
  }

  /** A reset: what was settled stays, but nobody can answer a question of the line of history before. */
  rewinds(): void {
    this.open.clear()
    this.row.gen++
  }

  /** The workflow is lost. Its turn begins anew, in another line of history. */
  loses(): void {
    this.models.clear()
    this.tools.clear()
    this.open.clear()
  }

  /** An answer to an open question, or to one that was never asked. */
  answer(never: string[]): Answer {
    const { choose } = this.world
    // At the end of the tape, only the time ends a question that has an end.
    const ids = [...[...this.open.values()].filter((id) => !this.world.over() || !ends(id)), ...never]
    const id = ids[choose(Math.max(1, ids.length))] ?? 'none'
    return { id, decision: DECISIONS[choose(DECISIONS.length)] ?? 'done' }
  }
}

function ends(id: string): boolean {
  return Number(id.split('.').at(-1)) % 2 === 0
}
