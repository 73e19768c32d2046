/** Bash: runs a command and waits for its end, or starts it in the background. */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext, Verification } from '../../tool/tool.ts'
import type { Touch } from '../../tool/touch.ts'
import { openRoot } from '../sandbox/root.ts'
import { lookAtShell, MOST_SHELLS, runningShells, startShell } from './background-shells.ts'
import { commandLine } from './command-line.ts'
import { touchesOf } from './command-touches.ts'
import { openLog } from './output-log.ts'
import { runProcess, type ProcessEnd } from './run-process.ts'
import {
  commandId,
  keepWorkingFolder,
  openPlace,
  sandboxAt,
  workingFolder,
  type ShellPlace,
  type ShellSettings,
} from './shell-settings.ts'
import { ownShells } from './shell-owners.ts'
import { keepNewest } from './shell-state.ts'
import { OutputEnds } from './shown-output.ts'

const FOREGROUND = { default: 120_000, most: 600_000 }
const BACKGROUND = { default: 1_800_000, most: 7_200_000 }
/** How many whole outputs are kept beside a working folder. */
const LOGS_KEPT = 20
/** Milliseconds between two updates that people see of a running command. */
const SHOWN_EVERY_MS = 1000

const schema = z.object({
  command: z.string().min(1).max(20_000).describe('The command, for bash'),
  timeout: z
    .number()
    .int()
    .min(1)
    .max(BACKGROUND.most)
    .optional()
    .describe('Milliseconds. Default 120000, at most 600000; in the background 1800000 and 7200000'),
  description: z.string().max(500).optional().describe('What the command does, in a few words, for people'),
  run_in_background: z.boolean().optional().describe('Returns at once with an id for TaskOutput and KillShell'),
  cwd: z.string().optional().describe('Where it runs; default: where the last command ended'),
  env: z
    .record(z.string().regex(/^[A-Za-z_]\w*$/), z.string())
    .optional()
    .describe('Further environment variables'),
})
type Input = z.output<typeof schema>

const OUTSIDE = 'cwd must be a folder in the working directory.'

export function bashTool(settings: ShellSettings): Tool {
  return createTool({
    name: 'Bash',
    kind: 'execute',
    effect: 'non_idempotent',
    ordered: true,
    runsIn: 'workspace',
    // A command has ended, or was ended, before this.
    timeout: FOREGROUND.most + 30_000,
    description: {
      short: 'Runs a command in bash, in the working directory.',
      usageNotes: [
        'The directory that a command ends in is that of the next one; variables are not kept',
        'Processes that a command leaves behind are ended; use run_in_background for servers and long work',
        'The command has no input: use flags such as --yes',
        'For files, prefer Read, Edit, Write, Glob and Grep',
      ],
    },
    schema,
    touches: (args, ctx) => touches(settings, args, ctx),
    verify: (args, ctx) => verify(settings, args, ctx),
    execute: async (args, ctx) => {
      const place = await openPlace(settings, ctx)
      const cwd = await workingFolder(place.root, ctx, args.cwd)
      if (cwd === undefined) return { success: false, error: OUTSIDE }
      return args.run_in_background
        ? inBackground({ settings, place, cwd }, args, ctx)
        : inForeground({ settings, place, cwd }, args, ctx)
    },
  })
}

interface Where {
  settings: ShellSettings
  place: ShellPlace
  cwd: string
}

async function touches({ sandboxManager }: ShellSettings, args: Input, ctx: ToolContext): Promise<Touch[]> {
  const root = await openRoot(sandboxManager, ctx)
  const cwd = await workingFolder(root, ctx, args.cwd)
  if (cwd === undefined) return [{ kind: 'unknown', what: `${OUTSIDE} It is ${args.cwd}` }]
  const found = await touchesOf(args.command, cwd, ctx.mayRead && ((path) => ctx.mayRead?.(path, root) ?? true))
  // A variable may change what every program does.
  const set = Object.entries(args.env ?? {}).map(([name, value]) => `${name}=${value}`)
  if (set.length === 0) return found
  return [{ kind: 'command', command: `env ${set.join(' ')}`, argv: ['env', ...set], readonly: false }, ...found]
}

async function inForeground({ settings, place, cwd }: Where, args: Input, ctx: ToolContext): Promise<unknown> {
  const timeoutMs = Math.min(args.timeout ?? FOREGROUND.default, FOREGROUND.most)
  const id = commandId(ctx)
  const path = join(place.state.output, `${id}.log`)
  await keepNewest(place.state.output, LOGS_KEPT, async () => true)
  const sandbox = await sandboxAt(settings, place)
  const line = commandLine(args.command, { sandbox, limits: settings.limits, own: settings.env, given: args.env })
  const output = new OutputEnds()
  const log = await openLog(path)
  let shown = 0
  let end: ProcessEnd
  try {
    end = await runProcess({
      ...line,
      cwd,
      id,
      timeoutMs,
      signal: ctx.signal,
      onOutput: (bytes) => {
        output.add(bytes)
        if (Date.now() - shown > SHOWN_EVERY_MS) {
          shown = Date.now()
          ctx.updateOutput(output.text())
        }
        return log.write(bytes)
      },
    })
  } finally {
    await log.close()
    if (!output.isCut) await rm(path, { force: true })
  }
  ctx.signal.throwIfAborted()
  const note = await noteOnFolder(place.root, end.said.trim(), ctx)
  const more = output.isCut ? `; all of it: ${path}` : ''
  return answer(output.text(more).trimEnd(), { ...end, ...note, timeoutMs })
}

/** The folder for the next command. A command that was ended has reported none, so the folder stays. */
async function noteOnFolder(root: string, folder: string, ctx: ToolContext): Promise<{ note?: string }> {
  if (folder === '' || (await keepWorkingFolder(root, ctx, folder))) return {}
  return { note: 'The next command starts in the working directory again: this one ended outside of it.' }
}

function answer(
  output: string,
  { exitCode, signal, stopped, timeoutMs, note }: ProcessEnd & { timeoutMs: number; note?: string },
): unknown {
  const failure =
    stopped === 'timeout'
      ? `Command timed out after ${timeoutMs} ms`
      : exitCode === 0
        ? undefined
        : exitCode === undefined
          ? `Ended by ${signal}`
          : `Exit code ${exitCode}`
  const llmContent = [output, failure, note].filter(Boolean).join('\n')
  const metadata = { exitCode, signal, timedOut: stopped === 'timeout' }
  if (failure === undefined) return { success: true, llmContent, metadata }
  const type = stopped === 'timeout' ? 'timeout_error' : 'execution_error'
  return { success: false, llmContent, error: { type, message: failure }, metadata }
}

async function inBackground({ settings, place, cwd }: Where, args: Input, ctx: ToolContext): Promise<unknown> {
  const id = commandId(ctx)
  const folder = join(place.state.shells, id)
  if (!existsSync(folder) && (await runningShells(place.state.shells)) >= MOST_SHELLS) {
    return { success: false, error: `${MOST_SHELLS} shells are running. End one with KillShell first.` }
  }
  const sandbox = await sandboxAt(settings, place)
  const line = commandLine(args.command, { sandbox, limits: settings.limits, own: settings.env, given: args.env })
  const timeoutMs = args.timeout ?? BACKGROUND.default
  await ownShells(settings, place, ctx)
  await startShell(folder, { argv: line.argv, cwd, timeoutMs }, line.env)
  return started(id, timeoutMs)
}

function started(id: string, timeoutMs: number): object {
  const ends = `It is ended after ${Math.round(timeoutMs / 1000)} s at the latest.`
  return {
    success: true,
    llmContent: `Started in the background as ${id}. Read its output with TaskOutput, end it with KillShell. ${ends}`,
    metadata: { shell_id: id },
  }
}

/** The disk shows whether the shell of a call was started. Nobody knows what a command in the foreground did. */
async function verify(settings: ShellSettings, args: Input, ctx: ToolContext): Promise<Verification | undefined> {
  if (!args.run_in_background) return undefined
  const { state } = await openPlace(settings, ctx)
  const id = commandId(ctx)
  const shell = await lookAtShell(join(state.shells, id))
  return shell ? { happened: true, result: started(id, args.timeout ?? BACKGROUND.default) } : { happened: false }
}
