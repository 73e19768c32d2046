/** Rows S7 and S8: a child's system prompt. The profile's template is user code: call this only in activities. */
import { StelloError, messageOf } from '../agent/errors.ts'
import type { ForkProfile } from '../agent/profile.ts'

export interface PromptParts {
  /** What the fork asks for: the model's argument, or the client's. */
  requested: string | undefined
  /** The parent's. */
  inherited: string | undefined
  profile: ForkProfile | undefined
  vars: Record<string, string>
}

/**
 * The system prompt of a child session.
 *
 * Without a prompt in the profile: the requested one, else the parent's. With one: `prepend` and `append` join both by
 * a blank line (a missing side leaves none), `preset` is the profile's alone.
 *
 * @throws StelloError INVALID_ARGUMENT when the template needs a var that was not given, fails, or gives no text
 * @example
 * composeSystemPrompt({ profile: { systemPrompt: 'A' }, requested: 'B', inherited: 'P', vars: {} }) // 'A\n\nB'
 */
export function composeSystemPrompt({ requested, inherited, profile, vars }: PromptParts): string | undefined {
  if (profile?.systemPrompt === undefined) return requested || inherited
  const own = typeof profile.systemPrompt === 'string' ? profile.systemPrompt : fill(profile.systemPrompt, vars)
  const mode = profile.systemPromptMode ?? 'prepend'
  if (mode === 'preset') return own
  const sides = mode === 'append' ? [requested, own] : [own, requested]
  return sides.filter(Boolean).join('\n\n')
}

function fill(template: (vars: Record<string, string>) => string, vars: Record<string, string>): string {
  let prompt: unknown
  try {
    prompt = template(strict(vars))
  } catch (error) {
    throw new StelloError('INVALID_ARGUMENT', `the profile's system prompt: ${messageOf(error)}`, { cause: error })
  }
  if (typeof prompt === 'string') return prompt
  throw new StelloError(
    'INVALID_ARGUMENT',
    `the profile's system prompt: its function returned ${typeof prompt}, not text`,
  )
}

/** Vars that answer for what is there and throw for the rest, so that "undefined" never gets into a prompt. */
function strict(vars: Record<string, string>): Record<string, string> {
  return new Proxy(vars, {
    has: (target, key) => Object.hasOwn(target, key),
    get: (target, key) => {
      if (typeof key === 'symbol' || Object.hasOwn(target, key)) return Reflect.get(target, key) as string
      const given = Object.keys(target).join(', ') || 'none'
      throw new Error(`the var "${key}" is missing (given: ${given}); pass it in vars`)
    },
  })
}
