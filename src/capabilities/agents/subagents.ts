/** The pack of subagents: Task hands work to an agent and returns its answer. */
import { z } from 'zod'
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { agentOutput, stopAgent } from '../../tool/agent-tasks.ts'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'

/** Options of `subagents`. */
export interface SubagentsOptions {
  /** The agent has the pack `shell` too: its TaskOutput and TaskStop know agents, so this pack brings none. Default false. */
  withShell?: boolean
}

const MESSAGE_LIMIT = 1024 * 1024
const WAIT_MS = 30_000
const WAIT_LIMIT_MS = 600_000

const task = z.object({
  description: z.string().min(1).max(200).describe('The task in three to five words, for people'),
  prompt: z.string().min(1).max(MESSAGE_LIMIT).describe('What it shall do. It knows nothing else'),
  subagent_type: z.string().max(200).optional().describe('The fork profile; default: your own rules'),
  run_in_background: z.boolean().optional().describe('Return at once. You get a message when it has finished'),
  resume: z.string().max(100).optional().describe('The agentId of an earlier Task, which goes on with all it knows'),
})
type Input = z.output<typeof task>

/**
 * The tools Task, TaskOutput and TaskStop. `subagent_type` is the name of a fork profile that the session may fork into.
 *
 * @example
 * defineProfile({
 *   id: 'coder', agent: { model: 'anthropic:claude-sonnet-5' },
 *   capabilities: [shell({ sandboxManager }), subagents({ withShell: true })],
 * })
 */
export function subagents({ withShell = false }: SubagentsOptions = {}): CapabilityPack & { tools: readonly Tool[] } {
  return { name: 'subagents', tools: [taskTool(), ...(withShell ? [] : [outputTool(), stopTool()])] }
}

function taskTool(): Tool {
  return createTool({
    name: 'Task',
    kind: 'execute',
    effect: 'idempotent',
    description: {
      short: 'Hands a task to an agent of its own, and returns its answer.',
      usageNotes: [
        'Several Task calls of one answer run side by side',
        'The answer names the agentId: resume goes on with that agent, also after a failure',
        'TaskOutput reads the answer of one in the background, TaskStop ends it',
      ],
    },
    aliases: { agent_type: 'subagent_type', subagentType: 'subagent_type', runInBackground: 'run_in_background' },
    schema: task,
    execute: run,
  })
}

/** Until the wait it may run again: the same call makes the same agent, and sends the same message once. */
async function run(input: Input, ctx: ToolContext): Promise<unknown> {
  const agentId = await ask(input, ctx)
  if (input.run_in_background) return { agentId, status: 'async_launched' }
  const { agents } = await ctx.agents.wait([agentId], { owned: true })
  const { status, text = '' } = agents[0] ?? { status: 'not_found' }
  if (status === 'completed')
    return { success: true, llmContent: `${text}\n\nagentId: ${agentId}`, metadata: { agentId } }
  const why = text || `it is ${status}`
  return { success: false, error: `Agent ${agentId} ended without an answer: ${why}. resume asks it again.` }
}

async function ask(
  { description, prompt, subagent_type, run_in_background, resume }: Input,
  ctx: ToolContext,
): Promise<string> {
  if (resume !== undefined) {
    await ctx.agents.send(resume, prompt)
    return resume
  }
  const { id } = await ctx.agents.spawn({
    label: description,
    message: prompt,
    notifies: run_in_background === true,
    ...(subagent_type !== undefined && { profile: subagent_type }),
  })
  return id
}

function outputTool(): Tool {
  return createTool({
    name: 'TaskOutput',
    kind: 'readonly',
    effect: 'pure',
    description: {
      short: 'Tells how an agent in the background is, and its answer.',
      usageNotes: ['Waits for its end, unless block is false; one that still runs after timeout is no error'],
    },
    aliases: { taskId: 'task_id', agentId: 'task_id' },
    schema: z.object({
      task_id: z.string().max(100),
      block: z.boolean().optional().describe('Wait for its end; default true'),
      timeout: z.number().int().min(0).max(WAIT_LIMIT_MS).optional().describe('Milliseconds; default 30000'),
    }),
    execute: ({ task_id, block, timeout = WAIT_MS }, ctx) => agentOutput(task_id, block === false ? 0 : timeout, ctx),
  })
}

function stopTool(): Tool {
  return createTool({
    name: 'TaskStop',
    kind: 'execute',
    effect: 'idempotent',
    ordered: true,
    description: { short: 'Stops an agent in the background. What has ended is left as it is.' },
    aliases: { taskId: 'task_id', agentId: 'task_id' },
    schema: z.object({ task_id: z.string().max(100) }),
    execute: ({ task_id }, ctx) => stopAgent(task_id, ctx),
  })
}
