/** The rules of an agent, a profile or a session, read once: a worker keeps them as long as it keeps what states them. */
import { isObject } from '../core/is-object.ts'
import { RULE_LISTS, type PermissionRules } from '../protocol/permission-rules.ts'
import { isOf, ruleProblem, toRule, type Rule } from './rule.ts'

export interface Rules {
  deny: readonly Rule[]
  ask: readonly Rule[]
  /** Unset: it says nothing about what may run. */
  allow?: readonly Rule[]
}

const READ = new WeakMap<PermissionRules, Rules>()

/** @throws StelloError INVALID_ARGUMENT when a rule is none */
export function toRules(stated: PermissionRules): Rules {
  const known = READ.get(stated)
  if (known) return known
  const { deny = [], ask = [], allow } = stated
  const rules = { deny: deny.map(toRule), ask: ask.map(toRule), ...(allow && { allow: allow.map(toRule) }) }
  READ.set(stated, rules)
  return rules
}

/** What is wrong with stated rules, as text that follows their name. */
export function rulesProblem(stated: unknown): string | undefined {
  if (!isObject(stated)) return 'must be an object, e.g. { allow: ["Read"], deny: ["Bash(rm:*)"] }'
  for (const list of RULE_LISTS) {
    const rules = stated[list]
    if (rules === undefined) continue
    if (!Array.isArray(rules)) return `${list} must be a list of rules`
    const problem = rules.map(ruleProblem).find((each) => each !== undefined)
    if (problem !== undefined) return `${list}: ${problem}`
  }
  return undefined
}

/** Whether models are not even offered a tool: a rule without brackets denies it. */
export function hidesTool(layers: readonly PermissionRules[], name: string): boolean {
  return layers.some((stated) => toRules(stated).deny.some(({ spec, tool }) => spec === undefined && isOf(tool, name)))
}
