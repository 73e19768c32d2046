/**
 * The configuration that a session was created with: plain data, stored with the session and never changed. Names are
 * resolved against the agent that the worker serves. It never contains functions.
 */

import type { Limits } from './limits.ts'
import type { PermissionRules } from './permission-rules.ts'

/** Where a session takes its model or its user tools from: the agent itself, or one of its fork profiles. */
export type PartSource = 'agent' | `profile:${string}`

export interface SessionConfig {
  /** The agent's name, which is also the task queue. */
  agent: string
  label: string
  profile?: string
  /** Unset until the first run has opened the session. After that, the session keeps this text for life. */
  systemPrompt?: string
  /**
   * How many characters at the beginning of the prompt are rules that no fork replaces (`lockPrompt`). Unset = none.
   */
  locked?: number
  model: PartSource
  tools: PartSource
  /** White-list of skills; unset = all. */
  skills?: string[]
  allowedTools?: string[]
  disallowedTools?: string[]
  /** Unset: permissions are off, unless the agent states them. */
  permissionMode?: string
  /** The rules of its profile and of those above it, the outermost first. The agent's rules are not among them. */
  permissions?: PermissionRules[]
  userId?: string
  /** Unset until the first run opened the session. */
  limits?: Limits
  /** Whether the tree uses the search attributes: chosen when its root is created, and inherited. */
  searchable?: boolean
  /** The request of a client, or of a call in the turn of `messageId`. It is resolved and removed when the first run opens the session. */
  fork?: { request: ForkRequest; at: Branch; messageId?: string }
}

/** A position in a transcript: what a fork points at. */
export interface Branch {
  sessionId: string
  gen: number
  seq: number
}

/** The options of a fork, for a model or a client. */
export interface ForkRequest {
  /** The child's name for people, at most 200 characters. */
  label: string
  /** The fork profile of the child. Default: the parent's. */
  profile?: string
  /** What the profile's `systemPrompt` function is called with. */
  vars?: Record<string, string>
  /** The prompt of the child. A profile says how it is combined with the profile's own prompt. */
  systemPrompt?: string
  /** Whether the child begins with the transcript of the parent. Default `none`. */
  context?: 'none' | 'inherit'
  /** First message of the child, said by the assistant. */
  prompt?: string
}
