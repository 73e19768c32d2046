/**
 * Every call goes the same way: prepare, then execute, both under the tool's time-out; then finish (`finish.ts`), for
 * results and for errors. The call counts as begun between prepare and execute.
 */
import type { StelloAgent } from '../../agent/agent.ts'
import { toolNotFound, type SessionTools } from '../../agent/tool-list.ts'
import { execute, runBuiltin, withinTimeOut, type Execution } from './execute.ts'
import type { CallEnd } from './finish.ts'
import { checked, prepare, type Preparing } from './prepare.ts'

export interface Phases extends Omit<Preparing, 'tool'> {
  tools: SessionTools
  agent: StelloAgent
  execution: Execution
  /** Marks the call as begun. If it throws, the call must not run. */
  begin(): Promise<void>
}

/**
 * @returns `asks`: nothing has begun, because a person must be asked first
 * @throws StelloError with the code of the stage that refused; every error of `begin` and of the tool
 */
export async function runPhases({
  tools,
  agent,
  execution,
  begin,
  ...preparing
}: Phases): Promise<CallEnd | { asks: string }> {
  const { call, use } = preparing
  const found = tools.find(call.name)
  if (!found) throw toolNotFound(call.wrote ?? call.name, tools)
  if ('builtin' in found) return runBuiltin(found.builtin.name, checked(call, found.builtin.check), agent)
  return withinTimeOut(call.name, execution, async (ctx) => {
    const prepared = await prepare({ ...preparing, tool: found.tool }, ctx)
    if ('asks' in prepared) return prepared
    ctx.signal.throwIfAborted()
    await begin()
    return { value: await execute(prepared, use.channel, ctx) }
  })
}
