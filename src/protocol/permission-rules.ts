/** Permission rules as an agent, a fork profile or a session's configuration states them. */
export interface PermissionRules {
  /** Calls that run without a question. */
  allow?: readonly string[]
  /** Calls that a person is always asked about. */
  ask?: readonly string[]
  /** Calls that never run. A rule without brackets also hides its tool from models. */
  deny?: readonly string[]
}

/** The three lists, in the order in which they count. */
export const RULE_LISTS = ['deny', 'ask', 'allow'] as const
