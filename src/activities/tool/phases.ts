/**
 * The one way every call takes: prepare → execute, both under the tool's time-out, then finish (`finish.ts`), for results
 * and errors alike. In between the call begins.
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
  /** Marks the call as begun, or throws: it must not run then. */
  begin(): Promise<void>
}

/** @throws StelloError with the code of the stage that refused; what `begin` throws; whatever the tool throws @returns `asks`: nothing has begun, a person must be asked */
export async function runPhases({
  tools,
  agent,
  execution,
  begin,
  ...preparing
}: Phases): Promise<CallEnd | { asks: string }> {
  const { call, use } = preparing
  const found = tools.find(call.name)
  if (!found) throw toolNotFound(call.name, tools)
  if ('builtin' in found) return runBuiltin(found.builtin.name, checked(call, found.builtin.check), agent)
  return withinTimeOut(call.name, execution, async (ctx) => {
    const prepared = await prepare({ ...preparing, tool: found.tool }, ctx)
    if ('asks' in prepared) return prepared
    ctx.signal.throwIfAborted()
    await begin()
    return { value: await execute(prepared, use.channel, ctx) }
  })
}
