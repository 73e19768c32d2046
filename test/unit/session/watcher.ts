/**
 * Judges a session from outside, only from its events and commands. Nothing here is computed as the session computes
 * it.
 */
import { deepStrictEqual } from 'node:assert/strict'
import type { Refusal } from '../../../src/protocol/announcements.ts'
import type { Command } from '../../../src/session/commands.ts'
import type { Input } from '../../../src/session/inputs.ts'
import type { SessionState } from '../../../src/session/state.ts'
import type { OpenSessionOutcome } from '../../../src/protocol/steps.ts'
import type { Limits } from '../../../src/protocol/limits.ts'
import type { Decision } from '../../../src/protocol/pending.ts'
import type { Answer } from '../../../src/protocol/read-answer.ts'
import type { NewSession } from '../../../src/protocol/session-input.ts'
import { Kin } from './kin.ts'
import { check } from './check.ts'
import type { Past } from './past.ts'
import { Waits } from './waits.ts'

interface Round {
  names: string[]
  codes: (string | undefined)[]
  told: Set<number>
}

export class Watcher {
  readonly limits: Limits
  private readonly kin: Kin
  private readonly waits = new Waits()
  readonly accepted: string[] = []
  readonly answered: string[] = []
  /** Answered by a workflow that was lost. A message that is sent once more is known to the store alone. */
  readonly forgotten = new Set<string>()
  readonly asked = new Map<string, Round>()
  readonly records = new Map<number, string>()
  private readonly openings = new Map<number, string>()
  private readonly streaks = new Map<string, number>()
  /** The announcement keys of resumes that were asked for after the last pause. */
  private readonly resumes = new Set<string>()
  /** Due when the run has opened the session. Until then nothing goes on. */
  private pauseOwed = false
  /** The last round reached the limit of time-outs in a row. */
  private earned = false
  /** The first answer to each question. */
  private readonly decisions = new Map<string, Decision>()
  private readonly compactions = new Set<string>()
  paused = false
  /** A person has asked for a resume. */
  private lifted = false
  /**
   * A step found the store paused although the session is not. Nothing begins before the store has heard of a resume.
   */
  private parted = false

  constructor(limits: Limits, session: NewSession) {
    this.limits = limits
    this.kin = new Kin(session)
  }

  /** Called with every event, before the commands that follow; `state` is the state after the event. */
  saw(event: Input, before: SessionState, state: SessionState): void {
    if (event.type === 'pauseRequested' && !state.closed) this.hold()
    this.waits.saw(event)
    if (event.type === 'resumeRequested') this.lifted = true
    if (event.type === 'sessionOpened' && event.outcome.kind === 'opened') this.kin.opened()
    if (event.type === 'announced' && this.resumes.delete(event.key)) this.paused = this.parted = false
    if (event.type === 'announced' && event.tag === 'turnEnd') this.turnEnded(before.turns)
    if (event.type === 'modelEnded' || event.type === 'toolEnded')
      this.parted ||= event.outcome.kind === 'notStarted' && !before.turn?.stopping
    if (event.type === 'modelEnded') this.modelTold(event)
    if (event.type === 'toolEnded') this.toolTold(event)
    if (this.pauseOwed && state.opened) {
      check(state.pause !== undefined && state.resuming === undefined, 'I3: time-outs in a row do not pause')
      this.pauseOwed = false
    }
  }

  /** A pause that an opening finds holds, unless a resume has been asked for since the workflow began. */
  found(outcome: OpenSessionOutcome): void {
    if (outcome.kind === 'opened' && outcome.pause && !this.lifted && this.resumes.size === 0) this.hold()
  }

  /** A person has answered. The first answer is the one that was not refused. */
  heard({ id, decision }: Answer, refused: Refusal[]): void {
    if (refused.length > 0) return
    check(!this.decisions.has(id), `I8: ${id} is answered twice`)
    this.decisions.set(id, decision)
  }

  /** An answer to a question that was never asked has decided nothing. */
  refused(refused: RefusedAnswer[]): void {
    for (const { data } of refused) {
      if (data.reason.includes('never asked')) this.decisions.delete(String(data.id))
    }
  }

  wants(command: Command, state: SessionState): void {
    switch (command.type) {
      case 'callModel': {
        const { turn, round, opening, upTo, last } = command.input
        this.mayBegin(`model call ${command.input.key}`, state)
        check(state.compacting === undefined, 'I11: the model is asked beside a compaction')
        check(round <= this.limits.maxToolRounds, `I2: the model is asked in round ${round}`)
        check(last === (round === this.limits.maxToolRounds), 'I2: the last round is not marked')
        if (round > 0) this.mustBeAnswered(`${turn}.${round - 1}`)
        if (opening) this.opens(turn, opening.messageId, upTo)
        return
      }
      case 'compact': {
        const { key } = command.input
        this.mayBegin(`compaction ${key}`, state)
        check(state.compacting === key && !this.compactions.has(key), `I11: ${key} is not the only compaction`)
        this.compactions.add(key)
        return
      }
      case 'callTool': {
        const { key, index } = command.input
        this.mayBegin(`tool call ${key}`, state)
        this.waits.begins(key, state.gen)
        const calls = state.turn?.calls ?? []
        const early = calls[index]?.ordered && calls.slice(0, index).some((one) => one.ordered && one.status !== 'done')
        return check(!early, `I12: ${key} begins before an ordered call before it is done`)
      }
      case 'announce': {
        const { pause, endTurn, close, key, turn } = command.input
        if (pause) this.hold()
        check(
          pause?.reason !== 'tool_timeouts' || this.earned,
          'I3: the session pauses for time-outs that are not in a row',
        )
        if (pause === null) {
          this.resumes.add(key)
          const [resumed] = command.input.events
          // Before a run is opened, a resume may be one of a pause that only the store knows.
          if ((this.paused || !state.opened) && resumed?.type === 'session.resumed' && resumed.data.tries === undefined)
            this.streaks.clear()
        }
        if (endTurn?.opening) this.opens(turn, endTurn.opening.messageId, endTurn.opening.seq)
        if (endTurn && state.turn) this.mustBeAnswered(`${turn}.${state.turn.round}`)
        for (const { messageId } of close?.messages ?? []) this.isAnswered(messageId)
        return
      }
      case 'settleModel': {
        const { step } = command.input
        // A turn may be cancelled before its model was asked.
        if (step.opening) this.opens(step.turn, step.opening.messageId, step.upTo)
        return
      }
      case 'settleTool': {
        const { proposed } = command.input
        if (proposed.kind === 'expired')
          return check(
            !this.decisions.has(proposed.id),
            `I14: ${proposed.id} has an answer, and counts as not answered`,
          )
        if (proposed.kind !== 'answered') return
        const { id, decision } = proposed.answer
        return check(this.decisions.get(id) === decision, `I8: ${id} is decided as nobody has said`)
      }
      case 'reportToParent':
      case 'tellParent':
      case 'closeChildren':
        return this.kin.wants(command, state)
      case 'tryAgain':
        return check(state.pause?.nextTryAt === command.at, 'I10: a try is promised that the pause does not name')
      case 'openSession':
      case 'endWait':
      case 'endAsking':
      case 'notifyPeople':
      case 'startChild':
      case 'settleCompaction':
      case 'cancelSteps':
      case 'cancelChild':
    }
  }

  /** At the end, when nothing is left to do: every call has its result, and every message its answer. */
  ended(state: SessionState, { kept, unanswered, closedUnknown, closing, forks }: Past): void {
    check(state.closed || !closing, 'I9: the session does not close')
    this.kin.ended(state, closing ? forks : [])
    for (const round of this.asked.keys()) this.mustBeAnswered(round)
    const results = [...this.asked.values()].reduce((sum, round) => sum + round.told.size, 0)
    check(state.totals.toolCalls === results, `I1: ${results} results, ${state.totals.toolCalls} counted`)
    const counts = (messageId: string): boolean => !closedUnknown || messageId !== unanswered
    deepStrictEqual(this.answered.filter(counts), this.accepted.filter(counts), 'I6: messages and answers differ')
    const seqs = [...this.records.keys()].toSorted((a, b) => a - b)
    deepStrictEqual(
      seqs,
      Array.from({ length: Math.max(state.seq, kept) }, (_, i) => i + 1),
      'I5: the records have a gap',
    )
  }

  /** A workflow begins. It goes on with what the store knows, and with those messages. */
  begins(past: Past, messages: string[]): void {
    const { answered } = past
    this.answered.splice(0, this.answered.length, ...answered)
    answered.forEach((id) => this.forgotten.add(id))
    this.accepted.splice(0, this.accepted.length, ...answered, ...messages)
    for (const known of [this.asked, this.openings, this.streaks, this.resumes, this.decisions, this.compactions])
      known.clear()
    this.pauseOwed = this.earned = this.paused = this.lifted = this.parted = false
    this.kin.begins(past)
    this.waits.clear()
  }

  /** The store writes a record; a repeated step may write its own again. */
  writes(seq: number, what: string): void {
    const before = this.records.get(seq)
    check(before === undefined || before === what, `I5: record ${seq} is given to ${before} and to ${what}`)
    this.records.set(seq, what)
  }

  private modelTold({ turn, round, outcome }: Extract<Input, { type: 'modelEnded' }>): void {
    if (outcome.kind === 'duplicate') return this.messageAnswered(turn)
    if (outcome.kind !== 'answered') return
    if (outcome.stopReason) return this.turnEnded(turn)
    const names = outcome.calls.map((call) => call.name)
    this.asked.set(`${turn}.${round}`, { names, codes: [], told: new Set() })
  }

  private toolTold({ turn, round, index, outcome }: Extract<Input, { type: 'toolEnded' }>): void {
    const result = outcome.kind === 'childOpened' ? outcome.result : outcome.kind === 'settled' ? outcome : undefined
    const of = this.asked.get(`${turn}.${round}`)
    if (!result || !of) return
    check(!of.told.has(index), `I1: call ${turn}.${round}.${index} has two results`)
    of.told.add(index)
    of.codes[index] = result.code
    if (of.told.size === of.names.length) this.countTimeouts(of)
  }

  private countTimeouts({ names, codes }: Round): void {
    this.earned = false
    names.forEach((name, i) => {
      const count = codes[i] === 'TOOL_TIMEOUT' ? (this.streaks.get(name) ?? 0) + 1 : 0
      this.streaks.set(name, count)
      this.earned ||= count >= this.limits.timeoutsBeforePause
    })
    this.pauseOwed ||= this.earned
  }

  private hold(): void {
    this.paused = true
    this.resumes.clear()
  }

  private opens(turn: number, messageId: string, seq: number): void {
    this.openings.set(turn, messageId)
    check(this.accepted.includes(messageId), `I6: ${messageId} was never accepted`)
    check(!this.answered.includes(messageId) || this.forgotten.has(messageId), `I6: ${messageId} is answered twice`)
    check(!this.records.has(seq) || this.records.get(seq) === messageId, `I5: record ${seq} is taken`)
  }

  private turnEnded(turn: number): void {
    this.kin.turnEnded(turn)
    this.messageAnswered(turn)
  }

  private messageAnswered(turn: number): void {
    const messageId = this.openings.get(turn)
    check(messageId !== undefined, `turn ${turn} ends but never opened`)
    if (messageId !== undefined) this.isAnswered(messageId)
    this.openings.delete(turn)
  }

  private isAnswered(messageId: string): void {
    if (!this.forgotten.has(messageId)) this.answered.push(messageId)
  }

  private mustBeAnswered(round: string): void {
    const of = this.asked.get(round)
    check(!of || of.told.size === of.names.length, `I1: round ${round} goes on without all results`)
  }

  private mayBegin(what: string, state: SessionState): void {
    check(!this.paused, `I4: ${what} begins while paused`)
    check(!this.parted, `I4: ${what} begins while the store is paused`)
    check(state.resting !== true, `${what} begins in a run that is about to end`)
    check(state.opened, `${what} begins before the run is opened`)
    check(!state.closing, `I9: ${what} begins although the session is to close`)
    check(!state.turn?.stopping, `${what} begins although its turn is stopped`)
  }
}

type RefusedAnswer = Extract<Refusal, { type: 'answer.rejected' }>

/** The refusals of a step, told at once or kept. */
export function refusedBy(before: SessionState, after: SessionState, commands: Command[]): RefusedAnswer[] {
  const told = commands.flatMap((command) =>
    command.type === 'announce' && command.tag === 'refused' ? command.input.events : [],
  )
  return [...told, ...(after.refusals ?? []).flat()]
    .slice(before.refusals?.flat().length ?? 0)
    .filter((event) => event.type === 'answer.rejected')
}
