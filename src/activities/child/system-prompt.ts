/** A child's system prompt. The profile's template is user code: call this only in activities. */
import { StelloError, messageOf } from '../../core/errors.ts'
import type { ForkProfile } from '../../agent/profile.ts'
import type { SessionConfig } from '../../protocol/config.ts'

export interface PromptParts {
  /** The prompt that the fork asks for: the model's argument, or the client's. */
  requested: string | undefined
  /** The parent's prompt. */
  inherited: string | undefined
  /** How many characters of the parent's prompt are rules. */
  locked?: number | undefined
  profile: ForkProfile | undefined
  vars: Record<string, string>
}

export type SystemPrompt = Pick<SessionConfig, 'systemPrompt' | 'locked'>

const BLANK_LINE = '\n\n'

/**
 * The system prompt of a child session.
 *
 * Without a prompt in the profile: the requested one, else the parent's. With one: `prepend` and `append` join both by
 * a blank line (a missing side leaves none), `preset` is the profile's alone. In every mode, the parent's rules come
 * first, then what the profile locks itself. Each text appears once.
 *
 * @throws StelloError INVALID_ARGUMENT when the template needs a var that was not given, fails, or gives no text
 * @example
 * composeSystemPrompt({ profile: { systemPrompt: 'A' }, requested: 'B', inherited: 'P', vars: {} }) // 'A\n\nB'
 */
export function composeSystemPrompt({ requested, inherited, locked = 0, profile, vars }: PromptParts): SystemPrompt {
  const rules = inherited?.slice(0, locked) ?? ''
  const asked = requested && behind(rules, requested)
  const own = typeof profile?.systemPrompt === 'function' ? fill(profile.systemPrompt, vars) : profile?.systemPrompt
  const free = own === undefined ? asked || (inherited && behind(rules, inherited)) : byMode(profile, own, asked)
  if (!profile?.lockPrompt) return withRules(rules, free)
  const mine = own ?? free ?? ''
  const rest = own === undefined || profile.systemPromptMode === 'preset' ? '' : asked
  return withRules(holds(rules, mine) ? rules : join(rules, mine), rest)
}

function byMode(profile: ForkProfile | undefined, own: string, asked: string | undefined): string {
  const mode = profile?.systemPromptMode ?? 'prepend'
  if (mode === 'preset') return own
  return mode === 'append' ? join(asked, own) : join(own, asked)
}

/** A prompt that already begins with the rules, for example a copy of the parent's, does not repeat them. */
function behind(rules: string, prompt: string): string {
  if (prompt === rules) return ''
  return rules && prompt.startsWith(rules + BLANK_LINE) ? prompt.slice(rules.length + BLANK_LINE.length) : prompt
}

function holds(rules: string, text: string): boolean {
  return `${BLANK_LINE}${rules}${BLANK_LINE}`.includes(`${BLANK_LINE}${text}${BLANK_LINE}`)
}

function withRules(rules: string, free: string | undefined): SystemPrompt {
  if (!rules) return free === undefined ? {} : { systemPrompt: free }
  return { systemPrompt: join(rules, free), locked: rules.length }
}

function join(...sides: (string | undefined)[]): string {
  return sides.filter(Boolean).join(BLANK_LINE)
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

/** Vars that throw when a missing one is read, so that "undefined" never gets into a prompt. */
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
