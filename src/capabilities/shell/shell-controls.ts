/** KillShell, TaskOutput and TaskStop: they control shells in the background, from any process of the host. */
import { join } from 'node:path'
import { z } from 'zod'
import { agentOutput, stopAgent } from '../../tool/agent-tasks.ts'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import { awaitShell, endShell, lookAtShell, readLog, type Shell } from './background-shells.ts'
import { openPlace, type ShellSettings } from './shell-settings.ts'
import { bothEnds, OUTPUT_LIMIT, plain } from './shown-output.ts'

const MOST_WAIT = 600_000
/** How far the output of each shell was read. A value of the session: id → bytes. */
const CURSORS = 'shell.cursors'
const CURSORS_KEPT = 50

const id = z.string().describe('What Bash returned: bash_…')
const task = z.string().max(100).describe('What Bash returned (bash_…), or the agentId of a Task')

export function killShellTool(settings: ShellSettings): Tool {
  return createTool({
    name: 'KillShell',
    kind: 'execute',
    effect: 'idempotent',
    ordered: true,
    runsIn: 'workspace',
    description: { short: 'Ends a shell that runs in the background. One that has ended is left as it is.' },
    aliases: { task_id: 'shell_id', taskId: 'shell_id', shellId: 'shell_id' },
    schema: z.object({ shell_id: id }),
    execute: ({ shell_id }, ctx) => end(settings, shell_id, ctx),
  })
}

export function taskStopTool(settings: ShellSettings): Tool {
  return createTool({
    name: 'TaskStop',
    kind: 'execute',
    effect: 'idempotent',
    ordered: true,
    runsIn: 'workspace',
    description: { short: 'Stops what runs in the background. What has ended is left as it is.' },
    aliases: { taskId: 'task_id', shell_id: 'task_id' },
    schema: z.object({ task_id: task }),
    execute: ({ task_id }, ctx) => (isShell(task_id) ? end(settings, task_id, ctx) : stopAgent(task_id, ctx)),
  })
}

export function taskOutputTool(settings: ShellSettings): Tool {
  return createTool({
    name: 'TaskOutput',
    kind: 'readonly',
    effect: 'pure',
    ordered: true,
    runsIn: 'workspace',
    timeout: MOST_WAIT + 30_000,
    description: {
      short: 'Tells how a shell or an agent in the background is, and what it has written since it was read last.',
      usageNotes: ['Waits for its end, unless block is false; one that still runs after timeout is no error'],
    },
    aliases: { taskId: 'task_id', shell_id: 'task_id' },
    schema: z.object({
      task_id: task,
      block: z.boolean().optional().describe('Wait for its end; default true'),
      timeout: z
        .number()
        .int()
        .min(0)
        .max(MOST_WAIT)
        .optional()
        .describe('How long to wait, milliseconds; default 30000'),
    }),
    execute: async ({ task_id, block, timeout }, ctx) => {
      const waits = block === false ? 0 : (timeout ?? 30_000)
      if (!isShell(task_id)) return agentOutput(task_id, waits, ctx)
      const folder = await folderOf(settings, task_id, ctx)
      const shell = folder && (await awaitShell(folder, waits, ctx.signal))
      return folder && shell ? show(task_id, { ...shell, folder }, ctx) : unknownShell(task_id)
    },
  })
}

/** Any other id names an agent: the pack `subagents` leaves these two tools to this one. */
function isShell(task: string): boolean {
  return task.startsWith('bash_')
}

async function folderOf(settings: ShellSettings, shell: string, ctx: ToolContext): Promise<string | undefined> {
  // It becomes part of a path.
  if (!/^bash_[0-9a-f]{12}$/.test(shell)) return undefined
  return join((await openPlace(settings, ctx)).state.shells, shell)
}

function unknownShell(shell: string): object {
  return { success: false, error: `There is no shell ${shell} in this working directory.` }
}

async function end(settings: ShellSettings, shell_id: string, ctx: ToolContext): Promise<unknown> {
  const folder = await folderOf(settings, shell_id, ctx)
  const before = folder && (await lookAtShell(folder))
  if (!folder || !before) return unknownShell(shell_id)
  const { status, pid, exit } = (await endShell(folder)) ?? before
  return {
    shell_id,
    status,
    already_exited: before.status !== 'running',
    pid,
    exit_code: exit?.exitCode ?? null,
    signal: exit?.signal ?? null,
  }
}

async function show(
  shell: string,
  { folder, status, exit }: Shell & { folder: string },
  ctx: ToolContext,
): Promise<unknown> {
  const cursors = ((await ctx.values.get(CURSORS)) ?? {}) as Record<string, number>
  const from = cursors[shell] ?? 0
  const { bytes, size } = await readLog(folder, from, 2 * OUTPUT_LIMIT)
  // A character that is written only in part is read the next time.
  const unfinished = status === 'running' ? openBytes(bytes.at(-1)) : 0
  const kept = Object.entries({ ...cursors, [shell]: size - unfinished }).slice(-CURSORS_KEPT)
  ctx.values.set(CURSORS, Object.fromEntries(kept))
  const output = bothEnds(
    bytes
      .map((part, index) => plain(index === bytes.length - 1 ? part.subarray(0, part.length - unfinished) : part))
      .join('\n[…]\n'),
  )
  const llmContent = [
    `<status>${status}</status>`,
    exit?.exitCode === undefined ? '' : `<exit_code>${exit.exitCode}</exit_code>`,
    exit?.stopped === 'timeout' ? 'It took longer than its timeout and was ended.' : '',
    exit?.problem ?? '',
    `<output>\n${output.trimEnd()}\n</output>`,
  ]
  return {
    success: true,
    llmContent: llmContent.filter(Boolean).join('\n'),
    metadata: { status, exitCode: exit?.exitCode },
  }
}

/** How many bytes at the end begin a character of UTF-8 that is not complete. */
function openBytes(bytes: Buffer = Buffer.alloc(0)): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.at(-back) ?? 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
    if (byte < 0x80) return 0
  }
  return 0
}
