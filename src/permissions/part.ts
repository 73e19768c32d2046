/** What one rule is compared with: a part of a call. */
import type { Touch } from '../tool/touch.ts'

/** One part of a call. Without a touch: the call as a whole. */
export interface Part {
  /** The tool's name. */
  tool: string
  touch?: Touch
  /** The folder that patterns are relative to. Unset: nobody knows it. */
  root?: string
}

/**
 * How a doubtful match counts. `strict`, for rules that allow: as no match. `wide`, for rules that ask or deny: as a match.
 */
export type Doubt = 'strict' | 'wide'
