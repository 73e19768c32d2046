/** Judges what a session tells its parent and its forks. */
import { deepStrictEqual } from 'node:assert/strict'
import type { NewSession } from '../../../src/protocol/session-input.ts'
import type { Command } from '../../../src/session/commands.ts'
import type { SessionState } from '../../../src/session/state.ts'
import { check } from './check.ts'
import type { Past } from './past.ts'

type Telling = Extract<Command, { type: 'reportToParent' | 'tellParent' | 'closeChildren' }>

export class Kin {
  private readonly session: NewSession
  /** How often this workflow has reported to the call that awaits the session. */
  private reports = 0
  /** The first turn whose end the store knows. Before it is opened, the workflow does not know it. */
  private firstTurn = 0
  private knows = false
  /** Turns that have ended, and of which the parent of an agent was perhaps not told. */
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
        if (childTurn === 0) {
          check(state.closed, 'an agent tells of a close that has not come')
          this.untold = []
          return
        }
        return check(this.untold.shift() === childTurn, `an agent tells of turn ${childTurn}`)
      }
      // A resume that opens the session twice may tell some of them twice, which harms nobody.
      case 'closeChildren':
        for (const id of command.children) this.forksTold.add(id)
    }
  }

  /** A workflow begins, and the store knows more than it does. Nobody knows whether the last turn was told to the parent. */
  begins({ firstTurn, lastTurn, unanswered }: Pick<Past, 'firstTurn' | 'lastTurn' | 'unanswered'>): void {
    this.reports = 0
    this.knows = false
    this.firstTurn = firstTurn
    this.untold = this.session.tells && lastTurn > 0 && unanswered === undefined ? [lastTurn] : []
  }

  /** @param forks that must have been told of the close */
  ended(state: SessionState, forks: string[]): void {
    deepStrictEqual([...this.forksTold], forks, 'I9: the forks that are told of the close')
    deepStrictEqual(this.untold, [], 'the parent of an agent is not told of a turn')
    check(!this.session.awaited || !state.closed || this.reports === 1, 'I15: the parent is never told')
  }
}
