/**
 * A world around the session: commands that wait for an answer, a ledger that decides, people who interfere. A tape of
 * numbers decides everything, so fast-check can replay and shrink a run.
 */
import { agentNewsId, callKey } from '../../../src/protocol/keys.ts'
import { awaitedAgents } from '../../../src/session/await-agents.ts'
import type { NewSession } from '../../../src/protocol/session-input.ts'
import { deepStrictEqual } from 'node:assert/strict'
import type { Input } from '../../../src/session/inputs.ts'
import { initialState, type SessionState } from '../../../src/session/state.ts'
import { step } from '../../../src/session/step.ts'
import { message, pause, resume } from './play.ts'
import { Ledger } from './ledger.ts'
import { Performer } from './performer.ts'
import { Row } from './row.ts'
import { check, freeze } from './check.ts'
import { Watcher, refusedBy } from './watcher.ts'

export class Simulator {
  state: SessionState
  readonly watcher: Watcher
  private readonly tape: number[]
  private position = 0
  private readonly awaited: boolean
  private readonly ledger: Ledger
  private readonly row: Row
  private readonly performer: Performer
  private readonly session: NewSession
  private messages = 0
  private news = 0
  private losses = 0
  private stopAsked = false
  /** Somebody has started a workflow for the session after its close. */
  private afterClose = false

  constructor(tape: number[]) {
    this.tape = tape
    const kind = this.choose(5)
    this.awaited = kind === 0
    const parentId = 's-0'
    this.session = {
      sessionId: 's-1',
      label: 'demo',
      ...(this.awaited && { awaited: { parentId, callKey: 't1.0.0' } }),
      ...(kind === 1 && { tells: { parentId, notifies: true } }),
    }
    const messages = this.awaited ? ['first'] : []
    this.watcher = new Watcher(
      { maxToolRounds: this.choose(4), timeoutsBeforePause: 1 + this.choose(3), toolTimeoutMs: 1000 },
      this.session,
    )
    this.watcher.accepted.push(...messages)
    const choose = (options: number): number => this.choose(options)
    const world = { watcher: this.watcher, choose, over: () => this.position >= this.tape.length }
    this.row = new Row(world, this.awaited)
    this.watcher.begins(this.row, this.watcher.accepted.slice())
    this.ledger = new Ledger(world, this.row)
    this.performer = new Performer({
      watcher: this.watcher,
      ledger: this.ledger,
      row: this.row,
      choose,
      happens: (event) => this.happens(event),
      personAnswers: () => this.personAnswers(),
      stopAsked: () => this.stopAsked,
    })
    this.state = initialState({ ...this.session, messages })
    this.begins()
  }

  /** What came before the run is taken before it has asked anything. */
  private begins(): void {
    for (let early = this.choose(4); early > 0; early--) this.interfere()
    this.happens({ type: 'runStarted' })
  }

  /** Random events until the tape ends, and then only good answers. The session is resumed as often as it pauses. */
  run(): void {
    while (this.position < this.tape.length && !this.afterClose) {
      if (this.losses < 3 && this.choose(40) === 1) this.loses()
      else if (this.performer.outstanding.length > 0 && this.choose(5) > 0) this.performer.answerOne(true)
      else this.interfere()
      this.continueAsNew()
    }
    this.drain()
    if (this.row.closing && !this.state.closed) this.happens({ type: 'closeRequested', cascade: true })
    this.drain()
    if (this.afterClose) return check(this.state.closed, 'a workflow goes on although its session is closed')
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
    this.watcher.ended(this.state, this.row)
  }

  private drain(): void {
    for (let answers = 0; this.isBusy(); answers++) {
      check(answers < 5000, 'the session never comes to rest')
      if (this.performer.outstanding.length > 0) this.performer.answerOne(false)
      else if (this.awaitsAgent()) this.performer.children.agentsEnd(this.state)
      else if (this.state.pause) return
      else this.personAnswers()
      this.continueAsNew()
    }
  }

  private isBusy(): boolean {
    return this.performer.outstanding.length > 0 || this.ledger.open.size > 0 || this.awaitsAgent()
  }

  /** Nothing but the agents ends that wait. */
  private awaitsAgent(): boolean {
    const { calls = [] } = this.state.turn ?? {}
    return calls.some(({ status, awaits, pending }) => status === 'waiting' && awaits && !awaits.until && !pending)
  }

  /** A run may end, and the next one begin, when nothing is under way that it must wait for. */
  private continueAsNew(): void {
    if (this.state.closed || !this.performer.quiet()) return
    if (!this.state.resting && this.choose(4) === 1) this.happens({ type: 'runFilled' })
    if (!this.state.resting || !this.performer.quiet()) return
    this.performer.forgetTimers()
    this.row.continues(this.state)
    this.begins()
  }

  /**
   * The workflow is lost, and another one is started: with what the store knows, and with the messages that the first had
   * taken, if Temporal still has its history.
   */
  private loses(): void {
    this.losses++
    const { turn, queue } = this.state
    this.performer.loses()
    const { closed, answered, unanswered } = this.row
    const taken = [...(turn ? [turn.opening] : []), ...queue].map(({ messageId }) => messageId)
    const all = [...(this.awaited ? ['first'] : []), ...(this.choose(3) > 0 ? taken : [])]
    const messages = closed ? [] : [...new Set(all)].filter((id) => !answered.includes(id))
    this.watcher.begins(this.row, [...new Set([...(unanswered === undefined ? [] : [unanswered]), ...messages])])
    this.state = initialState({ ...this.session, messages })
    this.afterClose = closed
    if (closed) this.happens({ type: 'runStarted' })
    else this.begins()
  }

  /** A reset to where the run stands. The run hears of it with the next answer of the store. */
  private rewinds(): void {
    if (this.row.closed || this.state.closed) return
    this.ledger.rewinds()
    this.performer.echoes.splice(0)
    this.happens({ type: 'messageRejected', reason: 'not a message', preview: '?' })
  }

  private choose(options: number): number {
    const number = this.tape[this.position++] ?? 0
    return number % options
  }

  private interfere(): void {
    const deaf = this.state.closing !== undefined || this.state.closed
    switch (this.choose(20)) {
      case 0:
      case 1:
      case 2: {
        const id = `msg-${++this.messages}`
        if (!deaf) this.watcher.accepted.push(id)
        return this.happens(message(id, this.choose(4) === 0 ? 'x'.repeat(5000) : 'hello'))
      }
      case 3: {
        const last = this.watcher.accepted.at(-1)
        if (last === undefined) return
        // A workflow that was started anew knows only the messages that it was started with, and those that came since.
        if (this.watcher.forgotten.has(last)) return this.happens(message(last))
        if (this.row.fresh && last === this.row.unanswered) return this.happens(message(last))
        return this.same(message(last), !deaf)
      }
      case 4:
        return this.happens(pause)
      case 5:
      case 6:
        return this.happens(resume)
      case 7:
        return this.stops({
          type: this.choose(3) === 0 ? 'stopRequested' : 'cancelRequested',
          ...(!this.state.opened && { early: true as const }),
        })
      case 8:
        return this.choose(4) === 0 ? this.stops({ type: 'closeRequested', cascade: this.choose(2) === 0 }) : undefined
      case 9:
        return this.happens({ type: 'messageRejected', reason: 'not a message', preview: '?' })
      case 10: {
        const report = { childId: `s-x${this.choose(3)}`, childGen: 0, childTurn: 1, callKey: `t1.0.${this.choose(3)}` }
        return this.happens({ type: 'childReported', report })
      }
      case 16:
        return this.performer.children.vanishes(
          `t${this.state.turns}.0.${this.choose(3)}`,
          this.choose(2) === 0 ? 's-agent' : 's-x',
        )
      case 17:
        return this.agentTells(deaf)
      case 18:
        if (this.choose(8) === 0) this.row.mustClose()
        return
      case 19:
        return this.choose(4) === 0 ? this.rewinds() : undefined
      case 11: {
        const echo = this.performer.echoes[this.choose(Math.max(1, this.performer.echoes.length))]
        return echo && this.same(echo, true)
      }
      case 12:
        return this.happens({ type: 'runFilled' })
      case 13:
        return this.personAnswers()
      case 14:
        return this.happens({ type: 'answerRejected', reason: 'not an answer', preview: '?' })
      case 15:
        return this.happens({ type: 'compactRequested' })
    }
  }

  /** An agent that nobody waits for tells it with a message. */
  private agentTells(deaf: boolean): void {
    const report = { childId: 's-agent', childGen: 0, childTurn: ++this.news }
    if (!deaf && awaitedAgents(this.state).length === 0) this.watcher.accepted.push(agentNewsId(report))
    this.happens({ type: 'agentReported', report: { ...report, message: 'it is done' } })
  }

  /** Also to a call that is not known to wait. */
  private personAnswers(): void {
    const key = callKey({ turn: this.state.turns, round: this.state.turn?.round ?? 0, index: this.choose(3) })
    const never = this.position < this.tape.length ? [`${key}@0.x`] : []
    const answer = this.ledger.answer(never)
    this.happens({ type: 'answered', answer })
    if (this.choose(3) === 1) this.happens({ type: 'answered', answer: { ...answer, decision: 'retry' } })
  }

  private stops(event: Input): void {
    this.stopAsked = true
    this.happens(event)
  }

  /** An event that must change nothing (I7). */
  private same(event: Input, sure: boolean): void {
    if (!sure) return
    const [next, commands] = step(this.state, event)
    deepStrictEqual(next, this.state, `I7: a repeated ${event.type} changes the state`)
    deepStrictEqual(commands, [], `I7: a repeated ${event.type} leads to commands`)
  }

  private happens(event: Input): void {
    const [next, commands] = step(freeze(this.state), event)
    const copy = JSON.parse(JSON.stringify(next)) as SessionState
    deepStrictEqual(copy, next, 'the state is not plain JSON')
    this.watcher.saw(event, this.state, next)
    const refused = refusedBy(this.state, next, commands)
    this.state = copy
    if (event.type === 'answered' && !next.closed) this.watcher.heard(event.answer, refused)
    this.watcher.refused(refused)
    for (const command of commands) {
      this.watcher.wants(command, next)
      this.performer.take(command)
    }
    check(next.closed || (next.pause !== undefined) === this.watcher.paused, 'a pause is lost, or never told')
  }
}
