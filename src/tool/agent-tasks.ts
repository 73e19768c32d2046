/** TaskOutput and TaskStop for agents: what they do with the id of an agent, in whichever pack the tools are. */
import type { AgentStatus, AgentView } from './call-agents.ts'
import type { ToolContext } from './tool.ts'

/** The words that TaskOutput has for all that runs in the background. */
const TASK_STATUS: Readonly<Record<AgentStatus, string>> = {
  pending_init: 'running',
  running: 'running',
  paused: 'running',
  completed: 'completed',
  errored: 'failed',
  shutdown: 'killed',
  not_found: 'lost',
}

/** @param waitMs how long to wait for its end; 0: a look */
export async function agentOutput(id: string, waitMs: number, ctx: ToolContext): Promise<unknown> {
  const { agents } = await ctx.agents.wait([id], { timeoutMs: waitMs })
  const [agent] = agents
  if (!agent || agent.status === 'not_found') return unknownTask(id)
  return {
    success: true,
    llmContent: [`<status>${TASK_STATUS[agent.status]}</status>`, ...outputOf(agent)].join('\n'),
    metadata: { status: TASK_STATUS[agent.status] },
  }
}

/** Closes the agent. A message to it opens it again. */
export async function stopAgent(id: string, ctx: ToolContext): Promise<unknown> {
  const [agent] = await ctx.agents.look([id])
  if (!agent || agent.status === 'not_found') return unknownTask(id)
  const before = await ctx.agents.close(id)
  return { task_id: id, status: 'killed', already_exited: before !== 'running' && before !== 'paused' }
}

function outputOf({ text }: AgentView): string[] {
  return text === undefined ? [] : [`<output>\n${text.trimEnd()}\n</output>`]
}

function unknownTask(id: string): { success: false; error: string } {
  return { success: false, error: `Nothing with the id ${id} was started in this session.` }
}
