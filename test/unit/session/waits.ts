/** Judges when calls begin again that wait for a person or for agents. */
import { callKey } from '../../../src/protocol/keys.ts'
import type { ToolOutcome } from '../../../src/protocol/steps.ts'
import type { Input } from '../../../src/session/inputs.ts'
import { check } from './check.ts'

export class Waits {
  /** The lines of history in which calls were parked. */
  private readonly parked = new Map<string, number>()
  /** The calls that nobody has woken. */
  private readonly asleep = new Set<string>()
  /** How much news of agents there was when each call began. */
  private readonly begun = new Map<string, number>()
  private news = 0

  saw(event: Input): void {
    const { type } = event
    if (type === 'agentReported') this.agentTells()
    if (type === 'waitOver' || type === 'childVanished') this.wakes(event.callKey)
    if (type === 'toolEnded') this.ended(callKey(event), event.outcome)
    if (type === 'stepFailed' && event.step.of === 'tool') this.parked.delete(callKey(event.step))
  }

  begins(key: string, gen: number): void {
    check(this.parked.get(key) !== gen, `I8: ${key} begins while a person is asked`)
    check(!this.asleep.has(key), `I13: ${key} begins although nobody has woken it`)
    this.begun.set(key, this.news)
  }

  /** A workflow begins. */
  clear(): void {
    for (const known of [this.parked, this.asleep, this.begun]) known.clear()
  }

  /** The call that runs hears of it, too. */
  private agentTells(): void {
    this.news++
    this.asleep.clear()
  }

  private wakes(key: string): void {
    this.asleep.delete(key)
    this.begun.delete(key)
  }

  private ended(key: string, outcome: ToolOutcome): void {
    this.parked.delete(key)
    if (outcome.kind === 'pending') this.parked.set(key, outcome.gen)
    if (outcome.kind === 'awaits' && this.begun.get(key) === this.news) this.asleep.add(key)
  }
}
