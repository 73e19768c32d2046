/** Instructions that a model loads when it needs them. */
export interface Skill {
  /** What the model calls it by. */
  name: string
  /** Tells the model when to activate it. */
  description: string
  /** The instructions themselves: what `activate_skill` and the tool `Skill` return. */
  content: string
  /** The folder that the skill was read from: an absolute path. Unset: it has none. */
  folder?: string
  /** The other files of the folder, by their path in it. The model is told their names, and reads them by the tool `Skill`. */
  files?: readonly string[]
  /**
   * Rules that hold once the tool `Skill` has loaded it. `allow`: calls that need no question then, where no other rule
   * asks or denies; `deny`: calls that never run then.
   */
  permissions?: { allow?: readonly string[]; deny?: readonly string[] }
  /** How long its rules hold: until the turn ends that has loaded it, or as long as the session. Default `turn`. */
  scope?: 'turn' | 'session'
  /** The model that its author had in mind. It changes nothing: a session keeps its model, and the tool `Skill` says so. */
  model?: string
}
