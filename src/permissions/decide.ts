/**
 * Decides whether a call may run. Deny rules come first, then ask rules, then the mode and allow rules. A call of many
 * parts is denied when one of them is, and allowed when all of them are.
 */
import type { PermissionMode } from '../protocol/permission-mode.ts'
import type { Kind } from '../tool/tool.ts'
import type { Ruled, Touch } from '../tool/touch.ts'
import type { Part } from './part.ts'
import { isOf, type Rule } from './rule.ts'
import type { Rules } from './rules.ts'

/** The permissions of a session. All layers hold: the first is the agent's, the others only narrow it. */
export interface Permissions {
  mode: PermissionMode
  layers: readonly Rules[]
  /** Rules that people have added by an answer, or that skills bring: they stand beside the allow rules of the agent. */
  kept?: readonly Rule[]
}

/** The call that is asked about. */
export interface Asking {
  tool: string
  kind: Kind
  /** Unset: nothing is known of it but its tool. */
  touches?: readonly Touch[]
  /** The folder of the session's workspace. */
  root?: string
}

export type Decided = 'allow' | 'ask' | 'deny'

/**
 * `rule`: the rule that decided. Unset: the mode did. `from`: where the rule comes from, if it says so. `parts`: what the
 * decision is about.
 */
export interface Verdict {
  decision: Decided
  rule?: string
  from?: string
  parts: readonly Part[]
}

const STRICTEST: readonly Decided[] = ['deny', 'ask', 'allow']

export function decide(permissions: Permissions, asking: Asking): Verdict {
  const { tool, touches = [], root } = asking
  const parts = touches.length > 0 ? touches.map((touch) => partOf(tool, touch, root)) : [{ tool }]
  const verdicts = parts.map((part) => judge(permissions, asking, part))
  const decision = STRICTEST.find((each) => verdicts.some((verdict) => verdict.decision === each)) ?? 'ask'
  const deciding = verdicts.filter((verdict) => verdict.decision === decision)
  const told = deciding.find(({ from }) => from !== undefined) ?? deciding.find(({ rule }) => rule !== undefined)
  return unasked(permissions.mode, { decision, ...told, parts: deciding.flatMap((verdict) => verdict.parts) })
}

/** The rule about something that a call meets while it runs: a file that it finds, an address that it is redirected to. */
export function ruled({ layers }: Permissions, tool: string, touch: Touch): Ruled | undefined {
  const part = partOf(tool, touch)
  for (const decision of ['deny', 'ask'] as const) {
    const rule = find(layers, decision, part)
    if (rule) return { decision, rule: ruleName(rule.text, rule.from) }
  }
  return undefined
}

/** A rule as people and models read it. */
export function ruleName(rule: string, from: string | undefined): string {
  return from === undefined ? rule : `${rule} of the ${from}`
}

function partOf(tool: string, touch: Touch, workspace?: string): Part {
  const root = ('root' in touch ? touch.root : undefined) ?? workspace
  return { tool, touch, ...(root !== undefined && { root }) }
}

function judge({ mode, layers, kept = [] }: Permissions, asking: Asking, part: Part): Verdict {
  const parts = [part]
  const denied = find(layers, 'deny', part)
  if (denied) return { decision: 'deny', ...named(denied), parts }
  const harmless = isHarmless(part.touch, asking.kind)
  if (mode === 'plan' && !harmless) return { decision: 'deny', parts }
  const asked = find(layers, 'ask', part)
  if (asked) return { decision: 'ask', ...named(asked), parts }
  // This part could not be taken apart, so it may contain something that a rule about parts of this tool names.
  const hidden = part.touch?.kind === 'unknown' && layers.some((layer) => speaksOfParts(layer, part.tool))
  if (hidden) return { decision: 'ask', parts }
  if (mode === 'bypassPermissions' || harmless) return { decision: 'allow', parts }
  if (mode === 'acceptEdits' && isEdit(part.touch, asking.kind)) return { decision: 'allow', parts }
  const allowed = allowing(layers, kept, part)
  return allowed ? { decision: 'allow', ...named(allowed), parts } : { decision: 'ask', parts }
}

function named({ text, from }: Rule): Pick<Verdict, 'rule' | 'from'> {
  return { rule: text, ...(from !== undefined && { from }) }
}

/**
 * Every layer with an allow list must allow the part. The first layer always has one: kept rules and rules of skills are
 * added to it. If a rule of a skill was needed, that rule is returned.
 */
function allowing([first, ...below]: readonly Rules[], kept: readonly Rule[], part: Part): Rule | undefined {
  const lists = [[...(first?.allow ?? []), ...kept], ...below.flatMap(({ allow }) => (allow ? [allow] : []))]
  const found = lists.map((list) => list.find((rule) => rule.matches(part, 'strict')))
  return found.every((rule) => rule !== undefined) ? (found.find(({ from }) => from) ?? found.at(-1)) : undefined
}

function find(layers: readonly Rules[], list: 'deny' | 'ask', part: Part): Rule | undefined {
  return layers.flatMap((layer) => layer[list]).find((rule) => rule.matches(part, 'wide'))
}

function speaksOfParts({ deny, ask }: Rules, tool: string): boolean {
  return [...deny, ...ask].some(
    (rule) => rule.spec !== undefined && (isOf(rule.tool, tool) || rule.tool === 'Edit' || rule.tool === 'Read'),
  )
}

/** Without a touch, only the tool's kind is known. */
function isHarmless(touch: Touch | undefined, kind: Kind): boolean {
  switch (touch?.kind) {
    case 'read':
      return true
    case 'command':
      return touch.readonly
    case 'url':
    case 'server':
    case undefined:
      return kind === 'readonly'
    case 'write':
    case 'unknown':
      return false
  }
}

function isEdit(touch: Touch | undefined, kind: Kind): boolean {
  return touch ? touch.kind === 'write' : kind === 'write'
}

function unasked(mode: PermissionMode, verdict: Verdict): Verdict {
  return mode === 'dontAsk' && verdict.decision === 'ask' ? { ...verdict, decision: 'deny' } : verdict
}
