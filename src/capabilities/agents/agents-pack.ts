/** The pack of orchestration: agents that a session starts, asks, waits for and closes. */
import { z } from 'zod'
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { createTool } from '../../tool/compat.ts'
import type { AgentView } from '../../tool/call-agents.ts'
import type { Tool } from '../../tool/tool.ts'

const IDS_LIMIT = 16
const WAIT_LIMIT_MS = 30 * 24 * 60 * 60 * 1000
const MESSAGE_LIMIT = 1024 * 1024

const id = z.string().min(1).max(100)
const message = z.string().min(1).max(MESSAGE_LIMIT)

/**
 * The tools `spawn-agent`, `send-input`, `wait-agent` and `close-agent`. An agent is a child session with an address that
 * stays: it may be asked again after it has answered, failed or was closed.
 *
 * @example
 * defineProfile({ id: 'lead', agent: { model: 'anthropic:claude-sonnet-5' }, capabilities: [agents()] })
 */
export function agents(): CapabilityPack & { tools: readonly Tool[] } {
  return { name: 'agents', tools: [spawnAgent(), sendInput(), waitAgent(), closeAgent()] }
}

function spawnAgent(): Tool {
  return createTool({
    name: 'spawn-agent',
    kind: 'execute',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Starts an agent that works beside you, and returns its address.',
      usageNotes: [
        'It knows only what message says, unless fork_context is true: then it knows this conversation',
        'It goes on by itself: wait-agent waits for its answer, send-input asks it again',
      ],
    },
    aliases: { agent_type: 'role', profile: 'role', label: 'displayName', nickname: 'displayName', prompt: 'message' },
    schema: z.object({
      role: z.string().max(200).optional().describe('The fork profile; default: yours'),
      message: message.optional().describe('What it shall do. Without it, it waits for send-input'),
      displayName: z.string().min(1).max(200).optional().describe('Its name for people'),
      taskId: z.string().max(200).optional().describe('The task that it works on, for people'),
      fork_context: z.boolean().optional().describe('Whether it begins with this conversation; default false'),
    }),
    async execute({ role, message: said, displayName, taskId, fork_context }, ctx) {
      const label = displayName ?? ([role, taskId].filter(Boolean).join(' ') || 'agent')
      const { id: agentId } = await ctx.agents.spawn({
        label,
        context: fork_context ? 'inherit' : 'none',
        ...(role !== undefined && { profile: role }),
        ...(said !== undefined && { message: said }),
      })
      return JSON.stringify({ agentId, status: said === undefined ? 'pending_init' : 'running', displayName: label })
    },
  })
}

function sendInput(): Tool {
  return createTool({
    name: 'send-input',
    kind: 'execute',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Sends an agent a message.',
      usageNotes: [
        'It answers one message after another; interrupt stops what it does now',
        'An agent that failed or was closed goes on with all that it knows',
      ],
    },
    aliases: { target: 'agentId', agent_id: 'agentId', payload: 'message' },
    schema: z.object({
      agentId: id,
      message,
      interrupt: z.boolean().optional().describe('Stop what it does now; default false'),
      id: z.string().max(100).optional().describe('A message with the same id is sent only once'),
    }),
    async execute({ agentId, message: said, interrupt, id: key }, ctx) {
      const options = { ...(interrupt && { interrupt }), ...(key !== undefined && { key }) }
      const { messageId } = await ctx.agents.send(agentId, said, options)
      return JSON.stringify({ inputId: messageId, queued: true })
    },
  })
}

function waitAgent(): Tool {
  return createTool({
    name: 'wait-agent',
    kind: 'readonly',
    effect: 'pure',
    // If it ran at the same time as an earlier send-input of the round, it would find the answer to the message before
    // that one.
    ordered: true,
    description: {
      short: 'Waits until agents have finished, and returns their answers.',
      usageNotes: [
        'A time-out is no error: the agents go on, and you may wait again',
        'Without timeout_ms it waits as long as they take',
      ],
    },
    aliases: { agentId: 'agentIds', targets: 'agentIds', ids: 'agentIds', timeoutMs: 'timeout_ms' },
    schema: z.object({
      agentIds: z.preprocess(asList, z.array(id).min(1).max(IDS_LIMIT)).describe('The addresses'),
      match: z.enum(['any', 'all']).optional().describe('Until any has finished, or all; default all'),
      kind: z.enum(['agent-idle', 'agent-closed']).optional().describe('What counts as finished; default agent-idle'),
      timeout_ms: z.number().int().min(0).max(WAIT_LIMIT_MS).optional().describe('Milliseconds'),
    }),
    async execute({ agentIds, match, kind, timeout_ms }, ctx) {
      const { agents: found, timedOut } = await ctx.agents.wait([...new Set(agentIds)], {
        until: kind === 'agent-closed' ? 'closed' : 'finished',
        ...(match !== undefined && { match }),
        ...(timeout_ms !== undefined && { timeoutMs: timeout_ms }),
      })
      return JSON.stringify({
        status: Object.fromEntries(found.map((view) => [view.id, shown(view)])),
        timed_out: timedOut,
      })
    },
  })
}

function closeAgent(): Tool {
  return createTool({
    name: 'close-agent',
    kind: 'execute',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Closes an agent, and all that it has started.',
      usageNotes: ['Its address stays: send-input opens it again'],
    },
    aliases: { target: 'agentId', agent_id: 'agentId' },
    schema: z.object({ agentId: id }),
    execute: async ({ agentId }, ctx) => JSON.stringify({ previous_status: await ctx.agents.close(agentId) }),
  })
}

/** A model that waits for one agent sends a plain address instead of a list. */
function asList(given: unknown): unknown {
  return typeof given === 'string' && !given.trim().startsWith('[') ? [given] : given
}

function shown({ status, label, text }: AgentView): { status: string; name?: string; text?: string } {
  return { status, ...(label && { name: label }), ...(text !== undefined && { text }) }
}
