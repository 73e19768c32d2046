/**
 * Whether one call may run. Rules and mode decide first. A question of theirs goes to the rules that people have kept, to
 * the agent's functions, and then to a person. Each decision becomes an event, which is stored with the end of the call
 * or with the question.
 */
import type { StelloAgent } from '../../agent/agent.ts'
import { approvalExpiry, type HookedCall } from '../../agent/permission-settings.ts'
import { StelloError } from '../../core/errors.ts'
import { toJson } from '../../core/to-json.ts'
import { decide, type Asking, type Permissions, type Verdict } from '../../permissions/decide.ts'
import { suggestRules } from '../../permissions/suggest.ts'
import type { DurableEvents } from '../../protocol/events.ts'
import type { Expiry, ShownToPermit } from '../../protocol/pending.ts'
import { inputHash } from '../../store/ledger/hashes.ts'
import type { Checked, Kind, SessionFacts, ToolContext } from '../../tool/tool.ts'
import type { Touch } from '../../tool/touch.ts'
import { denialText, questionText, shownTouches, touchesToPermit } from './permission-texts.ts'
import { withKept } from './session-permissions.ts'

/** The tool that is called, whoever brought it. */
export interface Subject {
  name: string
  kind: Kind
  check(args: unknown): Checked
  touches?(args: unknown, ctx: ToolContext): Promise<readonly Touch[]>
}

/** The question to a person. */
export interface ToPermit {
  question: string
  shown: ShownToPermit
  /** Unset: it waits for ever. */
  expiry?: Expiry
}

export type Permission =
  /** `args`: the given arguments, or the ones that the agent's function has put in their place. */
  | { kind: 'allow'; args: unknown }
  | { kind: 'deny'; error: StelloError; endsTurn?: true }
  | { kind: 'ask'; asks: ToPermit }

/** May be asked more than once for a call. */
export type Permit = (subject: Subject, args: unknown, ctx: PermitContext) => Promise<Permission>
export type PermitContext = Pick<ToolContext, 'callId' | 'signal'> & Partial<ToolContext>

/** How a decision came about, for the log. */
export type Decision = Pick<
  DurableEvents['permission.decided'],
  'decision' | 'by' | 'rule' | 'mode' | 'why' | 'touches'
>

type Told = Pick<Verdict, 'decision' | 'rule' | 'from'>

export interface Permitting {
  agent: StelloAgent
  session: SessionFacts
  /** The permissions now. Undefined: they are off. */
  standing(ctx: PermitContext): Promise<Permissions | undefined>
  /** The rules that people have added, read only where a question would be asked. */
  keptRules(): Promise<readonly string[]>
  /** The arguments of the call, as text. */
  input: string
  /**
   * The permission of a person. A hash: of the call that was shown. `true`: the call as it is now, because the person has written
   * its arguments. Undefined: nothing.
   */
  approved?: string | true
  told(decision: Decision): void
}

export function createPermit({ agent, session, input, standing, keptRules, approved, told }: Permitting): Permit {
  return async (subject, args, ctx) => {
    const permissions = await standing(ctx)
    if (!permissions) return { kind: 'allow', args }
    const at = await look(subject, args, ctx)
    const first = decide(permissions, at)
    const tell = (by: Decision['by'], { decision, rule, from }: Told, said?: string): void => {
      const why = [from, said].filter((each) => each !== undefined).join(', ')
      told({
        decision,
        by,
        ...(rule !== undefined && { rule }),
        ...(by === 'mode' && { mode: permissions.mode }),
        ...(why !== '' && { why }),
        touches: shownTouches(at),
      })
    }
    const decided = (verdict: Verdict): Permission | undefined => {
      if (verdict.decision === 'ask') return undefined
      tell(verdict.rule === undefined ? 'mode' : 'rule', verdict)
      return verdict.decision === 'allow' ? { kind: 'allow', args } : denied(denialText(at, verdict, permissions.mode))
    }
    const { canUseTool, confirm } = agent.hooks
    // The agent's function may still deny a call that only a skill allows.
    const isUpToAgent = ({ decision, from }: Verdict): boolean =>
      canUseTool !== undefined && decision === 'allow' && from !== undefined
    const ruled = isUpToAgent(first) ? undefined : decided(first)
    if (ruled) return ruled
    const hash = inputHash('permit', subject.name, input, toJson(at.touches ?? []))
    // The person's own event says who has permitted it.
    if (approved === true || approved === hash) return { kind: 'allow', args }
    const withRules = withKept(permissions, await keptRules())
    const early = decide(withRules, at)
    const kept = isUpToAgent(early) ? undefined : decided(early)
    if (kept) return kept

    const call: HookedCall = {
      name: subject.name,
      callId: ctx.callId,
      arguments: args,
      kind: subject.kind,
      touches: at.touches ?? [],
      session,
      signal: ctx.signal,
    }
    const said = (await canUseTool?.(call)) ?? { behavior: 'ask' }
    if (said.behavior === 'deny') {
      tell('hook', { decision: 'deny' }, said.message)
      return denied(said.message ?? `"${subject.name}" is not permitted here`, said.interrupt)
    }
    if (said.behavior === 'allow') {
      if (said.updatedInput === undefined) {
        tell('hook', { decision: 'allow' })
        return { kind: 'allow', args }
      }
      return updated({ subject, ctx, permissions, tell }, said.updatedInput)
    }
    // While the agent's function ran, a person may have permitted such calls for good. Rules of skills are looked at here too.
    const byNow = canUseTool ? withKept(permissions, await keptRules()) : withRules
    const verdict = decide(byNow, at)
    const late = decided(verdict)
    if (late) return late
    const question = questionText(at, verdict)
    if (confirm) {
      const yes = (await confirm({ ...call, question })) === true
      tell('hook', { decision: yes ? 'allow' : 'deny' })
      return yes ? { kind: 'allow', args } : denied(`"${subject.name}" was not permitted`)
    }
    tell(verdict.rule === undefined ? 'mode' : 'rule', verdict)
    // A tool that finds nothing to name, as in a command that is a comment, would give a rule for all of its calls.
    const offered = at.touches?.length === 0 ? [] : suggestRules(verdict.parts)
    // Rules that ask, and lists of profiles, win over kept rules.
    const rules = decide(withKept(byNow, offered), at).decision === 'allow' ? offered : []
    const shown = { hash, touches: touchesToPermit(at), rules }
    const expiry = approvalExpiry(agent.permissions)
    return { kind: 'ask', asks: { question, shown, ...(expiry && { expiry }) } }
  }
}

interface Updating {
  subject: Subject
  ctx: PermitContext
  permissions: Permissions
  tell: (by: 'hook' | 'rule', verdict: Told, said?: string) => void
}

/** Arguments from the agent's function are checked like the model's, and a rule may deny them. */
async function updated({ subject, ctx, permissions, tell }: Updating, given: unknown): Promise<Permission> {
  const checked = subject.check(given)
  if (!checked.ok) {
    throw new StelloError('TOOL_EXECUTION_ERROR', `canUseTool: updatedInput does not fit: ${checked.problem}`)
  }
  const at = await look(subject, checked.value, ctx)
  const verdict = decide(permissions, at)
  if (verdict.decision === 'deny') {
    tell('rule', verdict, 'after canUseTool had changed the arguments')
    return denied(denialText(at, verdict, permissions.mode))
  }
  tell('hook', { decision: 'allow' }, 'with other arguments')
  return { kind: 'allow', args: checked.value }
}

async function look({ name, kind, touches }: Subject, args: unknown, ctx: PermitContext): Promise<Asking> {
  const touched = await touches?.(args, ctx as ToolContext)
  const root = ctx.workspace?.root
  return { tool: name, kind, ...(touched && { touches: touched }), ...(root !== undefined && { root }) }
}

function denied(reason: string, endsTurn = false): Permission {
  return { kind: 'deny', error: new StelloError('TOOL_PERMISSION_DENIED', reason), ...(endsTurn && { endsTurn: true }) }
}
