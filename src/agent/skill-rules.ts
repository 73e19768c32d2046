/** The rules that skills bring: how they are written, what is wrong with them, and whose rules hold in a turn. Pure. */
import { StelloError } from '../core/errors.ts'
import { isObject } from '../core/is-object.ts'
import type { Skill } from '../core/skill.ts'
import { ruleProblem } from '../permissions/rule.ts'
import { rulesProblem } from '../permissions/rules.ts'

/** The value of the session that names the skills whose rules hold. */
export const LOADED_SKILLS = 'loadedSkills'

interface Loaded {
  skill: string
  /** The rules that it allowed when it was loaded. Unset: none. */
  allow?: readonly string[]
  /** The message whose turn has loaded it, if its rules end with that turn. */
  messageId?: string
}

/** The most rules that a skill may allow, and deny: they are compared with every part of every call. */
const MOST = 200

const SCOPES: readonly unknown[] = ['turn', 'session'] satisfies Skill['scope'][]

/**
 * Rules as a front matter states them: a text with spaces or commas between them, or a list.
 *
 * @throws Error naming the key
 */
export function readRules(key: string, stated: unknown): string[] {
  const given = typeof stated === 'string' ? [stated] : stated
  if (!Array.isArray(given)) throw new Error(`${key} must be rules, as text or as a list, e.g. Bash(git log:*) Read`)
  const rules = given.flatMap((each: unknown) => (typeof each === 'string' ? partRules(each) : [each]))
  const problem = tooMany(rules) ?? rules.map(ruleProblem).find((each) => each !== undefined)
  if (problem !== undefined) throw new Error(`${key}: ${problem}`)
  return rules as string[]
}

/** What stands in brackets stays together. */
function partRules(text: string): string[] {
  const rules = ['']
  let depth = 0
  for (const char of text) {
    depth += Number(char === '(') - Number(char === ')')
    const ends = depth <= 0 && /[\s,)]/.test(char)
    if (!ends || char === ')') rules.push(`${rules.pop()}${char}`)
    if (ends) rules.push('')
  }
  return rules.filter(Boolean)
}

/** @throws StelloError INVALID_ARGUMENT when what the skill states beside its text is wrong */
export function checkSkill({ name, permissions, scope, model }: Skill): void {
  const problem = permissionsProblem(permissions) ?? scopeProblem(scope) ?? modelProblem(model)
  if (problem !== undefined) throw new StelloError('INVALID_ARGUMENT', `skill "${name}": ${problem}`)
}

function permissionsProblem(stated: unknown): string | undefined {
  if (stated === undefined) return undefined
  const other = isObject(stated) && Object.keys(stated).find((field) => field !== 'allow' && field !== 'deny')
  const problem = typeof other === 'string' ? `"${other}" is no field of it: allow, deny` : rulesProblem(stated)
  if (problem !== undefined) return `permissions: ${problem}`
  const { allow = [], deny = [] } = stated as NonNullable<Skill['permissions']>
  const many = tooMany(allow) ?? tooMany(deny)
  return many && `permissions: ${many}`
}

function tooMany(rules: readonly unknown[]): string | undefined {
  return rules.length > MOST
    ? `a skill may allow ${MOST} rules and deny as many, and these are ${rules.length}`
    : undefined
}

export function scopeProblem(scope: unknown): string | undefined {
  return scope === undefined || SCOPES.includes(scope) ? undefined : 'scope must be turn or session'
}

export function modelProblem(model: unknown): string | undefined {
  return model === undefined || typeof model === 'string' ? undefined : 'model must be the name of a model'
}

export function bringsRules({ permissions: { allow = [], deny = [] } = {} }: Skill): boolean {
  return allow.length + deny.length > 0
}

/**
 * @param value what `LOADED_SKILLS` holds
 * @returns what it holds when this skill is loaded too; skills whose turn is over are left out
 */
export function withLoaded(value: unknown, { name, scope, permissions }: Skill, messageId: string): Loaded[] {
  const others = readLoaded(value).filter((each) => each.skill !== name && holds(each, messageId))
  const { allow = [] } = permissions ?? {}
  return [...others, { skill: name, ...(allow.length > 0 && { allow }), ...(scope !== 'session' && { messageId }) }]
}

/**
 * The rules of the loaded skills. The file of a skill may have changed since it was loaded, and nobody has permitted its new
 * rules. So a rule that allows counts only if the skill also had it when it was loaded.
 *
 * @param messageId of the turn. Unset: it is not known, so only what holds for the session counts
 */
export function skillsInForce(skills: readonly Skill[], value: unknown, messageId: string | undefined): Skill[] {
  const loaded = new Map(
    readLoaded(value)
      .filter((each) => holds(each, messageId))
      .map(({ skill, allow = [] }) => [skill, new Set(allow)]),
  )
  return skills.flatMap((skill) => {
    const then = loaded.get(skill.name)
    if (!then) return []
    const { allow, ...others } = skill.permissions ?? {}
    return [allow ? { ...skill, permissions: { ...others, allow: allow.filter((rule) => then.has(rule)) } } : skill]
  })
}

function holds({ messageId }: Loaded, current: string | undefined): boolean {
  return messageId === undefined || messageId === current
}

function readLoaded(value: unknown): Loaded[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isLoaded) : []
}

function isLoaded(value: unknown): value is Loaded {
  return (
    isObject(value) &&
    typeof value.skill === 'string' &&
    (value.allow === undefined || Array.isArray(value.allow)) &&
    (value.messageId === undefined || typeof value.messageId === 'string')
  )
}
