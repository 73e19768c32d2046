/** What the store knows of a session when a workflow of it begins, and later. */
export interface Past {
  /** The last record that the workflow before this one has left. */
  kept: number
  /** The message of the turn that was lost. */
  unanswered: string | undefined
  /** The session closed before it knew of that turn. */
  closedUnknown: boolean
  /** A cascade has reached the session. */
  closing: boolean
  forks: string[]
  /** The messages whose turns have ended, in that order. */
  answered: string[]
  /** The first turn that has ended, and the last; or 0. */
  firstTurn: number
  lastTurn: number
}
