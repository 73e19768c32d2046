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
}
