/** Performs the commands of a simulated session: some answers are late, odd or lost, and the ledger decides. */
import type { Command } from '../../../src/session/commands.ts'
import type { Pause } from '../../../src/core/pause.ts'
import type { FailedStep, Input } from '../../../src/session/inputs.ts'
import type {
  CallModelInput,
  CallToolInput,
  CompactInput,
  CompactOutcome,
  ModelOutcome,
  SettleModelInput,
  SettleToolInput,
  ToolOutcome,
} from '../../../src/protocol/steps.ts'
import { AUTH, type Ledger } from './ledger.ts'
import { child, result, settlement, timeout, usage } from './play.ts'
import type { Row } from './row.ts'
import type { Watcher } from './watcher.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>
type Awaiting = Exclude<
  Command,
  { type: 'reportToParent' | 'tellParent' | 'cancelSteps' | 'cancelChild' | 'closeChildren' }
>

export interface Surroundings {
  watcher: Watcher
  ledger: Ledger
  row: Row
  choose(options: number): number
  happens(event: Input): void
  personAnswers(): void
  /** Somebody has cancelled or closed. */
  stopAsked(): boolean
}

const isAside = ({ tag }: Of<'announce'>): boolean => tag === 'refused' || tag === 'message'

export class Performer {
  /** Events that have had their effect. Told again, they must have none. */
  readonly echoes: Input[] = []
  readonly outstanding: Awaiting[] = []
  private readonly children = new Set<string>()
  private readonly reported = new Set<string>()
  private readonly around: Surroundings
  private promises = 0

  constructor(around: Surroundings) {
    this.around = around
  }

  take(command: Command): void {
    if (command.type === 'startChild' && (!command.awaited || this.reported.has(command.callKey))) return
    if (command.type === 'reportToParent' || command.type === 'tellParent') return
    if (command.type === 'cancelSteps') return
    if (command.type === 'announce') this.around.row.wanted(command.input)
    if (command.type === 'cancelChild' || command.type === 'closeChildren') return
    this.outstanding.push(command)
  }

  /** The timers of a run end with the run. */
  forgetTimers(): void {
    const left = this.outstanding.filter(
      ({ type }) => !['tryAgain', 'endWait', 'endAsking', 'notifyPeople'].includes(type),
    )
    this.outstanding.splice(0, this.outstanding.length, ...left)
  }

  answerOne(wild: boolean): void {
    const first = wild ? this.around.choose(this.outstanding.length) : 0
    const chosen = this.outstanding[first]
    /** The performer sends announcements one after another, and sends what is only told beside the others. */
    const index =
      chosen?.type === 'announce'
        ? this.outstanding.findIndex((one) => one.type === 'announce' && isAside(one) === isAside(chosen))
        : first
    const [command] = this.outstanding.splice(index, 1)
    if (!command) return
    const odd = wild ? this.around.choose(8) : 8
    switch (command.type) {
      case 'openSession': {
        if (odd === 0)
          return this.around.happens({ type: 'sessionOpened', outcome: { kind: 'failed', pause: this.pause() } })
        const outcome = this.around.row.opens(command.input, this.around.watcher.limits)
        this.around.watcher.found(outcome)
        return this.around.happens({ type: 'sessionOpened', outcome })
      }
      case 'callModel':
        return this.answerModel(command.input, odd)
      case 'compact':
        return this.answerCompaction(command.input, odd)
      case 'settleCompaction':
        return this.endsCompaction(command.input, odd)
      case 'callTool':
        return this.answerTool(command, odd)
      case 'settleModel':
        return this.settleModel(command.input, odd)
      case 'settleTool':
        return this.settleTool(command.input, odd)
      case 'announce':
        return this.answerAnnouncement(command)
      case 'startChild':
        return this.endChild(command, odd)
      case 'tryAgain':
        return this.around.happens({ type: 'tryDue', at: command.at })
      case 'endWait':
        return this.around.happens({ ...command, type: 'waitOver' })
      case 'notifyPeople':
        return this.around.happens({ type: 'peopleNotified', key: command.input.key })
      case 'endAsking':
        return this.around.happens({ type: 'askingOver', callKey: command.callKey, id: command.id })
    }
  }

  /** Half of the pauses end by themselves. */
  private pause(): Pause {
    return this.around.choose(2) === 0 ? AUTH : { ...AUTH, nextTryAt: `at ${++this.promises}` }
  }

  private corrupts(step: FailedStep): void {
    this.around.happens({ type: 'stepFailed', code: 'STORE_CORRUPT', step, message: 'corrupt' })
  }

  private answerModel(input: CallModelInput, odd: number): void {
    const { turn, round, opening, upTo, key } = input
    if (this.around.choose(4) === 0) {
      const report = { turn, round, provider: 'p', why: '503', since: 'today' }
      this.around.happens({ type: 'weatherReported', report })
    }
    const settled = this.around.ledger.models.get(key)
    if (settled) return this.tell({ type: 'modelEnded', turn, round, outcome: settled })
    if (odd === 0) return this.corrupts({ of: 'model', turn, round })
    if (odd === 1) {
      return this.around.happens({ type: 'modelEnded', turn, round, outcome: { kind: 'notStarted' } })
    }
    if (odd === 2 && opening && !this.around.watcher.records.has(upTo)) {
      return this.around.happens({ type: 'modelEnded', turn, round, outcome: { kind: 'duplicate', gen: 0 } })
    }
    if (opening) this.around.watcher.writes(upTo, opening.messageId)
    if (odd === 5 && !input.asIs) {
      const full = {
        kind: 'full',
        gen: 0,
        refused: this.around.choose(2) === 0,
        standsFor: this.around.choose(9),
      } as const
      return this.around.happens({ type: 'modelEnded', turn, round, outcome: full })
    }
    if (odd === 3)
      return this.around.happens({ type: 'modelEnded', turn, round, outcome: { kind: 'failed', pause: this.pause() } })
    if (odd === 4) {
      /** Its answer may be in the ledger already. */
      if (this.around.choose(2) === 0) this.around.ledger.answers(input)
      return this.around.happens({
        type: 'modelLost',
        turn,
        round,
        how: this.around.stopAsked() ? 'cancelled' : 'timedOut',
      })
    }
    this.tell({ type: 'modelEnded', turn, round, outcome: this.around.ledger.answers(input) })
  }

  private answerCompaction(input: CompactInput, odd: number): void {
    const { key } = input
    if (odd === 0) return this.corrupts({ of: 'compaction', key })
    if (odd === 1) return this.around.happens({ type: 'compacted', key, outcome: { kind: 'notStarted' } })
    if (odd === 2)
      return this.around.happens({ type: 'compacted', key, outcome: { kind: 'failed', pause: this.pause() } })
    if (odd === 3) return this.around.happens({ type: 'compactionLost', key, input })
    this.tell({ type: 'compacted', key, outcome: { kind: 'compacted', gen: 0, done: odd !== 4, usage } })
  }

  private endsCompaction({ key }: CompactInput, odd: number): void {
    if (odd === 0) return this.corrupts({ of: 'compaction', key })
    this.tell({ type: 'compacted', key, outcome: { kind: 'cancelled', gen: 0 } })
  }

  private answerTool({ input, route }: Of<'callTool'>, odd: number): void {
    const { turn, round, index, key } = input
    const at = { turn, round, index }
    const settled = this.around.ledger.tools.get(key)
    if (settled) return this.tell({ type: 'toolEnded', ...at, outcome: settled })
    if (odd === 0) return this.corrupts({ of: 'tool', ...at })
    if (odd === 1) return this.around.happens({ type: 'toolEnded', ...at, outcome: { kind: 'notStarted' } })
    if (odd === 2)
      return this.around.happens({ type: 'toolEnded', ...at, outcome: { kind: 'failed', pause: this.pause() } })
    if (odd === 3)
      return this.around.happens({ type: 'toolLost', ...at, how: this.around.stopAsked() ? 'cancelled' : 'timedOut' })
    if (this.around.ledger.open.has(key) || (odd === 4 && route === 'tool')) {
      const outcome = this.around.ledger.ask(key)
      if (this.around.choose(4) === 1) this.around.personAnswers()
      return this.around.happens({ type: 'toolEnded', ...at, outcome })
    }
    if (odd === 6 && route === 'tool' && !input.waited?.over) return this.waits(input)
    if (route === 'task' && (this.children.has(key) || this.around.choose(4) > 0)) return this.opensChild(input)
    const outcome = [result(), timeout, timeout, result({ isError: true }), result({ endsTurn: true })][
      this.around.choose(5)
    ]
    this.tell({ type: 'toolEnded', ...at, outcome: this.around.ledger.settles(input, outcome ?? result()) })
  }

  /** The agent may have told something before anybody knows that the call waits. */
  private waits({ turn, round, index, waited }: CallToolInput): void {
    const report = { childId: 's-agent', childGen: 0, childTurn: 1 }
    if (this.around.choose(3) === 0) this.around.happens({ type: 'agentReported', report })
    const awaits = waited ?? { nth: 0, agents: ['s-agent'], until: `until ${++this.promises}` }
    this.around.happens({ type: 'toolEnded', turn, round, index, outcome: { kind: 'awaits', gen: 0, awaits } })
    if (this.around.choose(3) === 0) this.around.happens({ type: 'agentReported', report })
  }

  private opensChild(input: CallToolInput): void {
    const { turn, round, index, key } = input
    const known = this.children.has(key)
    this.children.add(key)
    if (this.around.choose(6) === 0 && !this.reported.has(key)) this.reports(key)
    const fork = !known && this.around.choose(4) === 0
    const settled = fork && { result: this.around.ledger.settles(input, result()) }
    const outcome = { kind: 'childOpened', gen: 0, child: child(`s-${key}`), ...settled } as const
    this.around.happens({ type: 'toolEnded', turn, round, index, outcome })
  }

  private endChild({ callKey, child: { sessionId } }: Of<'startChild'>, odd: number): void {
    if (this.reported.has(callKey)) return
    if (odd !== 0) return this.reports(callKey)
    this.around.happens({ type: 'childVanished', callKey, childId: sessionId, message: 'terminated' })
  }

  private reports(callKey: string): void {
    this.reported.add(callKey)
    this.around.happens({
      type: 'childReported',
      report: { childId: `s-${callKey}`, childGen: 0, childTurn: 1, callKey },
    })
  }

  private settleModel({ step, proposed }: SettleModelInput, odd: number): void {
    const { turn, round } = step
    if (odd === 0) return this.corrupts({ of: 'model', turn, round })
    const outcome = this.around.ledger.settlesModel(step, proposed, odd)
    this.tell({ type: 'modelEnded', turn, round, outcome })
  }

  private settleTool(input: SettleToolInput, odd: number): void {
    const { turn, round } = input.step
    const { index, key } = input.step
    if (odd === 0) return this.corrupts({ of: 'tool', turn, round, index })
    const undecided = this.around.ledger.tools.has(key)
      ? undefined
      : this.around.ledger.decide(key, input.proposed, odd)
    if (undecided) return this.around.happens({ type: 'toolEnded', turn, round, index, outcome: undecided })
    const outcome = this.around.ledger.settles(
      input.step,
      this.around.ledger.tools.get(key) ?? settlement(input.proposed),
    )
    this.tell({ type: 'toolEnded', turn, round, index, outcome })
  }

  private answerAnnouncement({ input, tag }: Of<'announce'>): void {
    const opening = input.endTurn?.opening
    if (opening) this.around.watcher.writes(opening.seq, opening.messageId)
    this.around.row.told(input)
    const event: Input = {
      type: 'announced',
      key: input.key,
      tag,
      outcome: { gen: 0, children: [] },
      ...(input.message && { messageId: input.message.messageId }),
    }
    this.around.happens(event)
    if (tag !== 'turnEnd') this.echoes.push(event)
  }

  /** Tells an outcome the ledger has settled. */
  private tell(event: Extract<Input, { outcome: ModelOutcome | ToolOutcome | CompactOutcome }>): void {
    this.around.happens(event)
    if (event.outcome.kind !== 'failed') this.echoes.push(event)
  }
}
