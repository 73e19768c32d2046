/** Judges what a session tells its parent and its forks. */
import { deepStrictEqual } from 'node:assert/strict'
import type { NewSession } from '../../../src/protocol/session-input.ts'
import type { Command } from '../../../src/session/commands.ts'
import type { SessionState } from '../../../src/session/state.ts'
import { check } from './check.ts'

type Telling = Extract<Command, { type: 'reportToParent' | 'tellParent' | 'closeChildren' }>

export class Kin {
  private readonly session: NewSession
  /** How often this workflow has reported to the call that awaits the session. */
  private reports = 0
  /** The first turn whose end the store knows. Before it is opened, the workflow does not know it. */
  private firstTurn = 0
  private knows = false
  /** Turns that have ended, and of which the parent of an agent was not told. */
  private untold: number[] = []
  private readonly forksTold = new Set<string>()

  constructor(session: NewSession) {
    this.session = session
  }

  opened(): void {
    this.knows = true
  }

  turnEnded(turn: number): void {
    this.firstTurn ||= turn
    if (this.session.tells) this.untold.push(turn)
  }

  wants(command: Telling, state: SessionState): void {
    switch (command.type) {
      case 'reportToParent': {
        const { childTurn } = command.report
        const turn = this.knows ? this.firstTurn : 0
        check(++this.reports === 1, 'I15: the parent is told twice')
        return check(childTurn === turn, `I15: the parent is told of turn ${childTurn}, not ${turn}`)
      }
      case 'tellParent': {
        const { childTurn } = command.report
        if (childTurn === 0) return check(state.closed, 'an agent tells of a close that has not come')
        return check(this.untold.shift() === childTurn, `an agent tells of turn ${childTurn}`)
      }
      case 'closeChildren':
        for (const id of command.children) {
          check(!this.forksTold.has(id), `I9: ${id} is told of the close twice`)
          this.forksTold.add(id)
        }
    }
  }

  /** The workflow is lost. @param firstTurn that the store knows, or 0 */
  lost(firstTurn: number): void {
    this.reports = 0
    this.knows = false
    this.firstTurn = firstTurn
    this.untold = []
  }

  /** @param forks that must have been told of the close */
  ended(state: SessionState, forks: string[]): void {
    deepStrictEqual([...this.forksTold], forks, 'I9: the forks that are told of the close')
    deepStrictEqual(this.untold, [], 'the parent of an agent is not told of a turn')
    check(!this.session.awaited || !state.closed || this.reports === 1, 'I15: the parent is never told')
  }
}
