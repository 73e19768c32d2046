/**
 * A world around the session: commands that wait for an answer, a ledger that decides, people who interfere.
 * A tape of numbers decides everything, so that fast-check can replay and shrink a run.
 */
import { deepStrictEqual } from 'node:assert/strict'
import type { Command } from '../../../src/session/commands.ts'
import type { SessionEvent } from '../../../src/session/events.ts'
import { initialState, type SessionState } from '../../../src/session/state.ts'
import { step } from '../../../src/session/step.ts'
import type {
  CallModelInput,
  CallToolInput,
  ModelOutcome,
  SettleStepInput,
  ToolOutcome,
} from '../../../src/session/steps.ts'
import { cancel, child, message, pause, result, resume, settlement, timeout } from './play.ts'
import { Ledger } from './ledger.ts'
import { Watcher, check, freeze } from './watcher.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>
type Awaiting = Exclude<Command, { type: 'reportToParent' | 'cancelSteps' | 'signalChild' }>

const AUTH = { reason: 'model_error', message: 'the key was refused' } as const

export class Simulator {
  state: SessionState
  readonly watcher: Watcher
  private readonly tape: number[]
  private position = 0
  private readonly awaited: boolean
  private readonly outstanding: Awaiting[] = []
  private readonly ledger: Ledger
  private readonly children = new Set<string>()
  private readonly reported = new Set<string>()
  /** Events that have had their effect: told again, they must have none. */
  private readonly echoes: SessionEvent[] = []
  private messages = 0
  private stopAsked = false

  constructor(tape: number[]) {
    this.tape = tape
    this.awaited = this.choose(5) === 0
    this.watcher = new Watcher(
      { maxToolRounds: this.choose(4), timeoutsBeforePause: 1 + this.choose(3), toolTimeoutMs: 1000 },
      this.awaited ? 'first' : undefined,
    )
    this.ledger = new Ledger({
      watcher: this.watcher,
      choose: (options) => this.choose(options),
      over: () => this.position >= this.tape.length,
    })
    this.state = initialState({
      sessionId: 's-1',
      label: 'demo',
      ...(this.awaited && { awaited: { parentId: 's-0', callKey: 't1.0.0' }, messages: ['first'] }),
    })
    this.happens({ type: 'runStarted' })
  }

  /** Random events until the tape ends, then good answers only; resumed as long as it pauses. */
  run(): void {
    while (this.position < this.tape.length) {
      if (this.outstanding.length > 0 && this.choose(5) > 0) this.answerOne(true)
      else this.interfere()
      this.continueAsNew()
    }
    this.drain()
    check(!this.state.turn || this.watcher.paused, 'a turn is unfinished, and nothing is under way')
    for (let resumes = 0; this.state.pause && !this.state.closed; resumes++) {
      check(resumes < 20, 'resume does not end the pause')
      this.happens(resume)
      this.drain()
    }
    check(!this.state.turn, 'a turn stays unfinished')
    check(this.ledger.open.size === 0, 'I8: a question stays open')
    check(this.state.closed || (!this.state.closing && !this.awaited), 'the session never closes')
    check(this.state.closed || this.state.queue.length === 0, 'a message waits in an idle session')
    this.watcher.ended(this.state)
  }

  private drain(): void {
    for (let answers = 0; this.outstanding.length > 0 || this.ledger.open.size > 0; answers++) {
      check(answers < 5000, 'the session never comes to rest')
      if (this.outstanding.length > 0) this.answerOne(false)
      else if (this.state.pause) return
      else this.personAnswers()
      this.continueAsNew()
    }
  }

  /** A session that is to rest begins a new run when nothing but children is under way. */
  private continueAsNew(): void {
    if (!this.state.resting || this.outstanding.some(({ type }) => type !== 'startChild')) return
    const { resting: _resting, ...carried } = this.state
    this.state = carried
    this.happens({ type: 'runStarted' })
  }

  private choose(options: number): number {
    const number = this.tape[this.position++] ?? 0
    return number % options
  }

  private interfere(): void {
    const deaf = this.state.closing !== undefined || this.state.closed
    switch (this.choose(15)) {
      case 0:
      case 1:
      case 2: {
        const id = `msg-${++this.messages}`
        if (!deaf) this.watcher.accepted.push(id)
        return this.happens(message(id, this.choose(4) === 0 ? 'x'.repeat(5000) : 'hello'))
      }
      case 3:
        return this.same(message(this.watcher.accepted.at(-1) ?? 'none'), this.watcher.accepted.length > 0 && !deaf)
      case 4:
        return this.happens(pause)
      case 5:
      case 6:
        return this.happens(resume)
      case 7:
        return this.stops(cancel)
      case 8:
        return this.choose(4) === 0 ? this.stops({ type: 'closeRequested', cascade: this.choose(2) === 0 }) : undefined
      case 9:
        return this.happens({ type: 'messageRejected', reason: 'not a message', preview: '?' })
      case 10: {
        const report = { childId: `s-x${this.choose(3)}`, childGen: 0, childTurn: 1, callKey: `t1.0.${this.choose(3)}` }
        return this.happens({ type: 'childReported', report })
      }
      case 11: {
        const echo = this.echoes[this.choose(Math.max(1, this.echoes.length))]
        return echo && this.same(echo, true)
      }
      case 12:
        this.state = { ...this.state, resting: true }
        return
      case 13:
        return this.personAnswers()
      case 14:
        return this.happens({ type: 'answerRejected', reason: 'not an answer', preview: '?' })
    }
  }

  /** Also to a call that is not known to wait. */
  private personAnswers(): void {
    const key = `t${this.state.turns}.${this.state.turn?.round ?? 0}.${this.choose(3)}`
    const never = this.position < this.tape.length ? [`${key}@0.x`] : []
    const answer = this.ledger.answer(never)
    this.happens({ type: 'answered', answer })
    if (this.choose(3) === 1) this.happens({ type: 'answered', answer: { ...answer, decision: 'retry' } })
  }

  private stops(event: SessionEvent): void {
    this.stopAsked = true
    this.happens(event)
  }

  /** An event that must change nothing (I7). */
  private same(event: SessionEvent, sure: boolean): void {
    if (!sure) return
    const [next, commands] = step(this.state, event)
    deepStrictEqual(next, this.state, `I7: a repeated ${event.type} changes the state`)
    deepStrictEqual(commands, [], `I7: a repeated ${event.type} leads to commands`)
  }

  private happens(event: SessionEvent): void {
    const [next, commands] = step(freeze(this.state), event)
    const copy = JSON.parse(JSON.stringify(next)) as SessionState
    deepStrictEqual(copy, next, 'the state is not plain JSON')
    this.watcher.saw(event, this.state, next)
    this.state = copy
    if (event.type === 'answered' && !next.closed) this.watcher.heard(event.answer, commands)
    for (const command of commands) {
      this.watcher.wants(command, next)
      if (command.type === 'startChild' && (!command.awaited || this.reported.has(command.callKey))) continue
      if (command.type === 'reportToParent' || command.type === 'cancelSteps' || command.type === 'signalChild')
        continue
      this.outstanding.push(command)
    }
    check(next.closed || (next.pause !== undefined) === this.watcher.paused, 'a pause is lost, or never told')
  }

  private answerOne(wild: boolean): void {
    const first = wild ? this.choose(this.outstanding.length) : 0
    const chosen = this.outstanding[first]
    /** The performer sends announcements one after another. */
    const index = chosen?.type === 'announce' ? this.outstanding.findIndex(({ type }) => type === 'announce') : first
    const [command] = this.outstanding.splice(index, 1)
    if (!command) return
    const odd = wild ? this.choose(8) : 8
    switch (command.type) {
      case 'openSession': {
        const { base: seq, turn } = command.input
        const { limits } = this.watcher
        return this.happens({
          type: 'sessionOpened',
          outcome:
            odd === 0
              ? { kind: 'failed', pause: AUTH }
              : { kind: 'opened', gen: 0, seq, turn, limits, model: { name: 'scripted', timeoutMs: 1000 } },
        })
      }
      case 'callModel':
        return this.answerModel(command.input, odd)
      case 'callTool':
        return this.answerTool(command, odd)
      case 'settleStep':
        return this.settle(command.input, odd)
      case 'announce':
        return this.answerAnnouncement(command)
      case 'startChild':
        return this.endChild(command, odd)
    }
  }

  private answerModel(input: CallModelInput, odd: number): void {
    const { turn, round, opening, upTo, key } = input
    const settled = this.ledger.models.get(key)
    if (settled) return this.tell({ type: 'modelEnded', turn, round, outcome: settled })
    if (odd === 0) return this.happens({ type: 'stepFailed', step: { of: 'model', turn, round }, message: 'corrupt' })
    if (odd === 1 && this.watcher.paused) {
      return this.happens({ type: 'modelEnded', turn, round, outcome: { kind: 'notStarted' } })
    }
    if (odd === 2 && opening && !this.watcher.records.has(upTo)) {
      return this.happens({ type: 'modelEnded', turn, round, outcome: { kind: 'duplicate', gen: 0 } })
    }
    if (opening) this.watcher.writes(upTo, opening.messageId)
    if (odd === 3) return this.happens({ type: 'modelEnded', turn, round, outcome: { kind: 'failed', pause: AUTH } })
    if (odd === 4) {
      /** Its answer may stand in the ledger already. */
      if (this.choose(2) === 0) this.ledger.answers(input)
      return this.happens({ type: 'modelLost', turn, round, how: this.stopAsked ? 'cancelled' : 'timedOut' })
    }
    this.tell({ type: 'modelEnded', turn, round, outcome: this.ledger.answers(input) })
  }

  private answerTool({ input, route }: Of<'callTool'>, odd: number): void {
    const { turn, round, index, key } = input
    const at = { turn, round, index }
    const settled = this.ledger.tools.get(key)
    if (settled) return this.tell({ type: 'toolEnded', ...at, outcome: settled })
    if (odd === 0) return this.happens({ type: 'stepFailed', step: { of: 'tool', ...at }, message: 'corrupt' })
    if (odd === 1 && this.watcher.paused)
      return this.happens({ type: 'toolEnded', ...at, outcome: { kind: 'notStarted' } })
    if (odd === 2) return this.happens({ type: 'toolEnded', ...at, outcome: { kind: 'failed', pause: AUTH } })
    if (odd === 3) return this.happens({ type: 'toolLost', ...at, how: this.stopAsked ? 'cancelled' : 'timedOut' })
    if (this.ledger.open.has(key) || (odd === 4 && route === 'tool')) {
      const outcome = this.ledger.ask(key)
      if (this.choose(4) === 1) this.personAnswers()
      return this.happens({ type: 'toolEnded', ...at, outcome })
    }
    if (route === 'task' && (this.children.has(key) || this.choose(4) > 0)) return this.opensChild(input)
    const outcome = [result(), timeout, timeout, result({ isError: true }), result({ endsTurn: true })][this.choose(5)]
    this.tell({ type: 'toolEnded', ...at, outcome: this.ledger.settles(input, outcome ?? result()) })
  }

  private opensChild(input: CallToolInput): void {
    const { turn, round, index, key } = input
    const known = this.children.has(key)
    this.children.add(key)
    if (this.choose(6) === 0 && !this.reported.has(key)) this.reports(key)
    const fork = !known && this.choose(4) === 0
    const settled = fork && { result: this.ledger.settles(input, result()) }
    const outcome = { kind: 'childOpened', gen: 0, child: child(`s-${key}`), ...settled } as const
    this.happens({ type: 'toolEnded', turn, round, index, outcome })
  }

  private endChild({ callKey, child: { sessionId } }: Of<'startChild'>, odd: number): void {
    if (this.reported.has(callKey)) return
    if (odd !== 0) return this.reports(callKey)
    this.happens({ type: 'childVanished', callKey, childId: sessionId, message: 'terminated' })
  }

  private reports(callKey: string): void {
    this.reported.add(callKey)
    this.happens({ type: 'childReported', report: { childId: `s-${callKey}`, childGen: 0, childTurn: 1, callKey } })
  }

  private settle(input: SettleStepInput, odd: number): void {
    const { turn, round } = input.step
    if (input.of === 'model') {
      if (odd === 0) return this.happens({ type: 'stepFailed', step: { of: 'model', turn, round }, message: 'corrupt' })
      return this.tell({
        type: 'modelEnded',
        turn,
        round,
        outcome: this.ledger.settlesModel(input.step, input.proposed, odd),
      })
    }
    const { index, key } = input.step
    if (odd === 0)
      return this.happens({ type: 'stepFailed', step: { of: 'tool', turn, round, index }, message: 'corrupt' })
    const undecided = this.ledger.tools.has(key) ? undefined : this.ledger.decide(key, input.proposed, odd)
    if (undecided) return this.happens({ type: 'toolEnded', turn, round, index, outcome: undecided })
    const outcome = this.ledger.settles(input.step, this.ledger.tools.get(key) ?? settlement(input.proposed))
    this.tell({ type: 'toolEnded', turn, round, index, outcome })
  }

  private answerAnnouncement({ input, tag }: Of<'announce'>): void {
    const opening = input.endTurn?.opening
    if (opening) this.watcher.writes(opening.seq, opening.messageId)
    const event: SessionEvent = {
      type: 'announced',
      key: input.key,
      tag,
      outcome: { gen: 0, children: [] },
      ...(input.message && { messageId: input.message.messageId }),
    }
    this.happens(event)
    if (tag !== 'turnEnd') this.echoes.push(event)
  }

  /** Tells an outcome the ledger has settled. */
  private tell(event: Extract<SessionEvent, { outcome: ModelOutcome | ToolOutcome }>): void {
    this.happens(event)
    if (event.outcome.kind !== 'failed') this.echoes.push(event)
  }
}
