/** One thing that a call would touch. Permission rules are matched against it before the call runs. */
export type Touch =
  /**
   * A file or folder, by its absolute real path. `root`: the folder that patterns of rules are relative to; unset: that of
   * the session's workspace. `ctx.ruled` does not know that folder: without a root, a rule that denies or asks counts if the path fits
   * below any folder.
   */
  | { kind: 'read' | 'write'; path: string; root?: string }
  /** One simple command of a shell. `readonly`: it is known to change nothing. */
  | { kind: 'command'; command: string; argv: readonly string[]; readonly: boolean }
  /** An address that is asked. */
  | { kind: 'url'; url: string }
  /** An MCP server that the arguments name: rules for all of its tools speak of the call too. */
  | { kind: 'server'; server: string }
  /** A part of the call that could not be taken apart. `what` names it for the person who is asked. */
  | { kind: 'unknown'; what: string }

/** What a permission rule says of a touch. */
export interface Ruled {
  /** `ask`: a person must permit it first. `deny`: it must not be done. */
  decision: 'ask' | 'deny'
  /** The rule as it was written. */
  rule: string
}

/** Whether a call that touches only these changes nothing. Without any touch nobody knows. */
export function changesNothing(touches: readonly Touch[]): boolean {
  return touches.length > 0 && touches.every(isHarmless)
}

function isHarmless(touch: Touch): boolean {
  switch (touch.kind) {
    case 'read':
    case 'url':
    case 'server':
      return true
    case 'command':
      return touch.readonly
    case 'write':
    case 'unknown':
      return false
  }
}
