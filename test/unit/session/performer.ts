/** Performs the commands of a simulated session: some answers are late, odd or lost, and the ledger decides. */
import type { Command } from '../../../src/session/commands.ts'
import type { Pause } from '../../../src/core/pause.ts'
import type { FailedStep, Input } from '../../../src/session/inputs.ts'
import type {
  CallModelInput,
  CompactInput,
  CompactOutcome,
  ModelOutcome,
  NotStarted,
  SettleModelInput,
  SettleToolInput,
  ToolOutcome,
} from '../../../src/protocol/steps.ts'
import { AUTH } from './ledger.ts'
import { Children } from './children.ts'
import { result, settlement, timeout, usage } from './play.ts'
import type { Surroundings } from './surroundings.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>
type Awaiting = Exclude<Command, { type: 'reportToParent' | 'tellParent' | 'cancelSteps' | 'cancelChild' }>

const isAside = ({ tag }: Of<'announce'>): boolean => tag === 'refused' || tag === 'message'

export class Performer {
  /** Events that have had their effect. Told again, they must have none. */
  readonly echoes: Input[] = []
  readonly outstanding: Awaiting[] = []
  readonly children: Children
  private readonly around: Surroundings
  private promises = 0

  constructor(around: Surroundings) {
    this.around = around
    this.children = new Children(around)
  }

  take(command: Command): void {
    if (command.type === 'startChild' && !command.awaited) return
    if (command.type === 'reportToParent' || command.type === 'tellParent') return
    if (command.type === 'cancelSteps' || command.type === 'cancelChild') return
    if (command.type === 'announce') this.around.row.wanted(command.input)
    this.outstanding.push(command)
  }

  /** The timers of a run end with the run. */
  forgetTimers(): void {
    const left = this.outstanding.filter(
      ({ type }) => !['tryAgain', 'endWait', 'endAsking', 'notifyPeople'].includes(type),
    )
    this.outstanding.splice(0, this.outstanding.length, ...left)
  }

  /** Nothing is under way that a run must wait for. */
  quiet(): boolean {
    const goesOn = ['startChild', 'tryAgain', 'endWait', 'endAsking', 'notifyPeople']
    return this.outstanding.every(({ type }) => goesOn.includes(type))
  }

  /** The workflow is lost. Some of what was on its way has reached the store. */
  loses(): void {
    const { choose, ledger, row } = this.around
    let arrives = true
    for (const command of this.outstanding.splice(0)) {
      if (command.type === 'announce' && (arrives &&= choose(2) === 0)) row.told(command.input)
      const asked =
        command.type === 'callModel' ? command.input : command.type === 'settleModel' ? command.input.step : undefined
      if (!asked || ledger.models.has(asked.key) || row.answered.includes(asked.messageId)) continue
      const how = choose(3)
      if (how === 1 && asked.opening && command.type === 'callModel') row.opens(asked.turn, asked.opening, asked.upTo)
      if (how === 2 && !row.closing) ledger.answers(asked)
    }
    this.echoes.splice(0)
    this.children.loses()
    ledger.loses()
    row.loses()
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
        if (odd === 0 && !this.around.row.closed)
          return this.around.happens({ type: 'sessionOpened', outcome: { kind: 'failed', pause: this.pause() } })
        const outcome = this.around.row.answers(command.input, this.around.watcher.limits)
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
        return this.children.ends(command, odd)
      case 'closeChildren':
        return this.around.happens({ type: 'childrenTold', upTo: command.children.at(-1) ?? '' })
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

  /** The store is paused, or closes: the claim begins nothing. */
  private notStarted(): NotStarted {
    return { kind: 'notStarted', ...(this.around.row.closing && { closing: true }) }
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
    if (settled) return this.tell({ type: 'modelEnded', turn, round, outcome: this.now(settled) })
    if (odd === 0) return this.corrupts({ of: 'model', turn, round })
    if (odd === 1 || this.around.row.closing)
      return this.around.happens({ type: 'modelEnded', turn, round, outcome: this.notStarted() })
    const known = opening && this.around.row.answered.includes(opening.messageId)
    if (known || (odd === 2 && opening && !this.around.watcher.records.has(upTo))) {
      this.around.row.isAnswered(opening.messageId)
      const unread = !known && this.around.choose(3) === 1 && { reason: 'the message cannot be read' }
      const outcome: ModelOutcome = { kind: 'duplicate', gen: this.around.row.gen, ...unread }
      return this.around.happens({ type: 'modelEnded', turn, round, outcome })
    }
    if (opening) this.around.row.opens(turn, opening, upTo)
    if (odd === 5 && !input.asIs) {
      const full = {
        kind: 'full',
        gen: this.around.row.gen,
        refused: this.around.choose(2) === 0,
        standsFor: this.around.choose(9),
      } as const
      return this.around.happens({ type: 'modelEnded', turn, round, outcome: full })
    }
    if (odd === 3) {
      const refused = this.around.choose(4) === 1 && { refused: true as const }
      const outcome: ModelOutcome = { kind: 'failed', pause: this.pause(), ...refused }
      return this.around.happens({ type: 'modelEnded', turn, round, outcome })
    }
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
    if (odd === 1 || this.around.row.closing)
      return this.around.happens({ type: 'compacted', key, outcome: this.notStarted() })
    if (odd === 2)
      return this.around.happens({ type: 'compacted', key, outcome: { kind: 'failed', pause: this.pause() } })
    if (odd === 3) return this.around.happens({ type: 'compactionLost', key, input })
    this.tell({
      type: 'compacted',
      key,
      outcome: { kind: 'compacted', gen: this.around.row.gen, done: odd !== 4, usage },
    })
  }

  private endsCompaction({ key }: CompactInput, odd: number): void {
    if (odd === 0) return this.corrupts({ of: 'compaction', key })
    this.tell({ type: 'compacted', key, outcome: { kind: 'cancelled', gen: this.around.row.gen } })
  }

  private answerTool({ input, route }: Of<'callTool'>, odd: number): void {
    const { turn, round, index, key } = input
    const at = { turn, round, index }
    const settled = this.around.ledger.tools.get(key)
    if (settled) return this.tell({ type: 'toolEnded', ...at, outcome: this.now(settled) })
    if (odd === 0) return this.corrupts({ of: 'tool', ...at })
    if (odd === 1 || this.around.row.closing)
      return this.around.happens({ type: 'toolEnded', ...at, outcome: this.notStarted() })
    if (odd === 2)
      return this.around.happens({ type: 'toolEnded', ...at, outcome: { kind: 'failed', pause: this.pause() } })
    if (odd === 3) {
      if (route === 'task' && this.around.choose(2) === 0) this.children.prepared(key)
      return this.around.happens({ type: 'toolLost', ...at, how: this.around.stopAsked() ? 'cancelled' : 'timedOut' })
    }
    if (this.around.ledger.open.has(key) || (odd === 4 && !this.children.has(key))) {
      const outcome = this.around.ledger.ask(key)
      if (this.around.choose(4) === 1) this.around.personAnswers()
      return this.around.happens({ type: 'toolEnded', ...at, outcome })
    }
    if (odd === 6 && route === 'tool') return this.children.waits(input)
    if (route === 'task' && (this.children.has(key) || this.around.choose(4) > 0)) return this.children.opens(input)
    const outcome = [result(), timeout, timeout, result({ isError: true }), result({ endsTurn: true })][
      this.around.choose(5)
    ]
    this.tell({ type: 'toolEnded', ...at, outcome: this.now(this.around.ledger.settles(input, outcome ?? result())) })
  }

  private settleModel({ step, proposed }: SettleModelInput, odd: number): void {
    const { turn, round } = step
    if (odd === 0) return this.corrupts({ of: 'model', turn, round })
    const outcome = this.now(this.around.ledger.settlesModel(step, proposed, odd))
    this.tell({ type: 'modelEnded', turn, round, outcome })
  }

  private settleTool(input: SettleToolInput, odd: number): void {
    const { turn, round } = input.step
    const { index, key } = input.step
    if (input.opening && this.children.has(key) && !this.around.ledger.tools.has(key))
      return this.children.opens(input.step)
    const corrupt = odd === 0
    if (corrupt && this.around.choose(2) === 0) return this.corrupts({ of: 'tool', turn, round, index })
    const undecided = this.around.ledger.tools.has(key)
      ? undefined
      : this.around.ledger.decide(key, input.proposed, odd)
    const settled = this.around.ledger.tools.get(key) ?? settlement(input.proposed)
    const outcome = undecided ?? this.now(this.around.ledger.settles(input.step, settled))
    // The ledger has decided, and the workflow does not hear of it.
    if (corrupt) return this.corrupts({ of: 'tool', turn, round, index })
    if (undecided) return this.around.happens({ type: 'toolEnded', turn, round, index, outcome })
    this.tell({ type: 'toolEnded', turn, round, index, outcome })
  }

  private answerAnnouncement({ input, tag }: Of<'announce'>): void {
    const children = this.around.row.told(input)
    const tell = input.pause && this.around.choose(2) === 0
    const event: Input = {
      type: 'announced',
      key: input.key,
      tag,
      outcome: {
        gen: this.around.row.gen,
        children,
        ...(tell && { tell }),
      },
      ...(input.message && { messageId: input.message.messageId }),
    }
    this.around.happens(event)
    if (tag !== 'turnEnd' && tag !== 'close' && !tell) this.echoes.push(event)
  }

  /** What an earlier line of history has settled counts in this one. */
  private now<T extends object>(outcome: T): T {
    return 'gen' in outcome ? { ...outcome, gen: this.around.row.gen } : outcome
  }

  /** Tells an outcome the ledger has settled. */
  private tell(event: Extract<Input, { outcome: ModelOutcome | ToolOutcome | CompactOutcome }>): void {
    this.around.happens(event)
    if (event.outcome.kind !== 'failed') this.echoes.push(event)
  }
}
