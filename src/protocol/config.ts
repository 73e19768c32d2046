/**
 * What a session was created with: plain data, stored with the session, never changed under it. Names are resolved
 * against the agent the worker serves; functions never get in here.
 */

import type { Limits } from './limits.ts'

/** Where a session takes its model or its user tools from: the agent itself, or one of its fork profiles. */
export type PartSource = 'agent' | `profile:${string}`

export interface SessionConfig {
  /** The agent's name, which is also the task queue. */
  agent: string
  label: string
  profile?: string
  /** Unset until the first run opened the session: then the text the session keeps for life. */
  systemPrompt?: string
  /** So many characters at the beginning of the prompt are rules, which no fork replaces (`lockPrompt`). Unset = none. */
  locked?: number
  model: PartSource
  tools: PartSource
  /** White-list of skills; unset = all. */
  skills?: string[]
  allowedTools?: string[]
  disallowedTools?: string[]
  permissionMode?: string
  userId?: string
  /** Unset until the first run opened the session. */
  limits?: Limits
  /** Whether the tree uses the search attributes: chosen when its root is created, and inherited. */
  searchable?: boolean
  /** What a client asked for; resolved, and removed, when the first run opens the session. */
  fork?: { request: ForkRequest; at: Branch }
}

/** A position in a transcript: what a fork points at. */
export interface Branch {
  sessionId: string
  gen: number
  seq: number
}

/** What a model or a client may ask of a fork. */
export interface ForkRequest {
  /** The child's name for people, at most 200 characters. */
  label: string
  /** The fork profile of the child. Default: the parent's. */
  profile?: string
  /** What the profile's `systemPrompt` function is called with. */
  vars?: Record<string, string>
  /** The prompt of the child; how it goes together with that of a profile is for the profile to say. */
  systemPrompt?: string
  /** Whether the child begins with the transcript of the parent. Default `none`. */
  context?: 'none' | 'inherit'
  /** First message of the child, said by the assistant. */
  prompt?: string
}
