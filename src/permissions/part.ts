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
 * How a doubt is decided. `strict`: only what surely fits is matched, for rules that allow. `wide`: what may fit is
 * matched too, for rules that ask or deny.
 */
export type Doubt = 'strict' | 'wide'
