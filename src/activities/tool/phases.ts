/**
 * Every call goes the same way: prepare, then execute, both under the tool's time-out; then finish (`finish.ts`), for
 * results and for errors. The call counts as begun between prepare and execute.
 */
import type { StelloAgent } from '../../agent/agent.ts'
import { toolNotFound, type SessionTools } from '../../agent/tool-list.ts'
import type { AnswerGiven } from '../../protocol/read-answer.ts'
import { toPermit, type Asked } from './ask-person.ts'
import { withQuestions } from './call-questions.ts'
import type { ToolContext } from '../../tool/tool.ts'
import { execute, runBuiltin, withinTimeOut, type Execution } from './execute.ts'
import type { CallEnd } from './finish.ts'
import { withHooks } from './call-hooks.ts'
import { checked, prepare, type Held, type Preparing } from './prepare.ts'

export interface Phases extends Omit<Preparing, 'tool'> {
  tools: SessionTools
  agent: StelloAgent
  execution: Execution
  /** Marks the call as begun. If it throws, the call must not run. */
  begin(): Promise<void>
  /** The answers of people to questions of earlier attempts. Unset: none. */
  answers?: readonly AnswerGiven[]
}

/**
 * @returns `asks`: a person must be asked first, and then the call begins anew
 * @throws StelloError with the code of the stage that refused; every error of `begin` and of the tool
 */
export async function runPhases({
  tools,
  agent,
  execution,
  begin,
  answers = [],
  ...preparing
}: Phases): Promise<CallEnd | { asks: Asked }> {
  const { call, use } = preparing
  const found = tools.find(call.name)
  if (!found) throw toolNotFound(call.wrote ?? call.name, tools)
  if ('builtin' in found) {
    const { name, check } = found.builtin
    const args = checked(call, check)
    const { permit } = preparing
    if (!permit) return runBuiltin(name, args, agent)
    return withinTimeOut(name, execution, async (ctx) => {
      const permission = await permit({ name, kind: 'readonly', check }, args, ctx)
      return permission.kind === 'allow' ? runBuiltin(name, permission.args, agent) : heldBack(permission)
    })
  }
  const work = async (ctx: ToolContext): Promise<CallEnd | { asks: Asked }> => {
    const prepared = await prepare({ ...preparing, tool: found.tool }, ctx)
    if ('kind' in prepared) return heldBack(prepared)
    ctx.signal.throwIfAborted()
    const run = (): Promise<unknown> => execute(prepared, use.channel, ctx)
    return { value: await withHooks(agent.hooks, { prepared, ctx }, { begin, work: run }) }
  }
  const { permissions } = agent
  return withinTimeOut(call.name, execution, (ctx) => withQuestions(ctx, { answers, permissions }, work))
}

export function heldBack(held: Held): CallEnd | { asks: Asked } {
  return held.kind === 'ask' ? { asks: toPermit(held.asks) } : held
}
