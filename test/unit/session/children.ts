/** The simulated children and agents of a session: they answer, end without an answer, fail, or never start. */
import { awaitedAgents } from '../../../src/session/await-agents.ts'
import type { Command } from '../../../src/session/commands.ts'
import type { CallToolInput } from '../../../src/protocol/steps.ts'
import type { SessionState } from '../../../src/session/state.ts'
import { child, result } from './play.ts'
import type { Surroundings } from './surroundings.ts'

export class Children {
  /** The calls that have opened a child, and those whose child has answered and closed. */
  private readonly opened = new Set<string>()
  private readonly reported = new Set<string>()
  private readonly around: Surroundings
  private waited = 0

  constructor(around: Surroundings) {
    this.around = around
  }

  has(callKey: string): boolean {
    return this.opened.has(callKey)
  }

  /** The child is in the store, and the workflow has not heard of it. */
  prepared(callKey: string): void {
    this.opened.add(callKey)
  }

  opens(input: CallToolInput): void {
    const { turn, round, index, key } = input
    const known = this.opened.has(key)
    this.opened.add(key)
    if (this.around.choose(6) === 0 && !this.reported.has(key)) this.reports(key)
    const fork = !known && this.around.choose(4) === 0
    const settled = fork && { result: this.around.ledger.settles(input, result({ gen: this.around.row.gen })) }
    const outcome = { kind: 'childOpened', gen: this.around.row.gen, child: child(`s-${key}`), ...settled } as const
    this.around.happens({ type: 'toolEnded', turn, round, index, outcome })
  }

  /** A child that has answered closes. Its workflow may also end without an answer, or with an error, or never start. */
  ends({ callKey, child: { sessionId } }: Extract<Command, { type: 'startChild' }>, odd: number): void {
    if (odd !== 0 && !this.reported.has(callKey)) this.reports(callKey)
    this.vanishes(callKey, sessionId)
  }

  /** Whoever watches a child may also find it gone without cause, late, or again. */
  vanishes(callKey: string, childId: string): void {
    this.around.happens({ type: 'childVanished', callKey, childId, message: 'ended abnormally: terminated' })
  }

  /** The call waits for an agent, which may tell something before anybody knows that. */
  waits({ turn, round, index, waited }: CallToolInput): void {
    const { choose, happens } = this.around
    if (choose(3) === 0) this.agentTells()
    const same = waited && !waited.over && choose(4) > 0 ? waited : undefined
    const awaits = same ?? {
      nth: waited ? waited.nth + 1 : 0,
      agents: ['s-agent'],
      ...(choose(3) > 0 && { until: `until ${++this.waited}` }),
      ...(choose(3) === 0 && { stops: true as const }),
    }
    happens({ type: 'toolEnded', turn, round, index, outcome: { kind: 'awaits', gen: this.around.row.gen, awaits } })
    if (choose(3) === 0) this.agentTells()
  }

  /** The agents of all calls whose wait has no end tell something, or vanish. */
  agentsEnd(state: SessionState): void {
    for (const { callKey, childId } of awaitedAgents(state)) {
      if (this.around.choose(2) === 1) this.agentTells()
      else this.vanishes(callKey, childId)
    }
  }

  agentTells(): void {
    this.around.happens({ type: 'agentReported', report: { childId: 's-agent', childGen: 0, childTurn: 1 } })
  }

  /** The workflow of the session is lost. Its calls are called anew, and find the children that have closed. */
  loses(): void {
    this.opened.clear()
  }

  private reports(callKey: string): void {
    this.reported.add(callKey)
    const report = { childId: `s-${callKey}`, childGen: 0, childTurn: 1, callKey }
    this.around.happens({ type: 'childReported', report })
  }
}
