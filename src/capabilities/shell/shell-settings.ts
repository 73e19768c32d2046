/** Settings that the tools of the pack share: where they work, and whether in a sandbox. */
import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolContext } from '../../tool/tool.ts'
import { sandboxProblem, type Sandbox } from '../sandbox/bubblewrap.ts'
import { isInside } from '../sandbox/real-path.ts'
import { openRoot, type SandboxManager } from '../sandbox/root.ts'
import type { ShellLimits } from './command-line.ts'
import { openShellState, type ShellState } from './shell-state.ts'

/** Whether commands run in a sandbox: where the machine has one, always or not at all, or never. */
export type SandboxMode = 'auto' | 'required' | 'off'

export interface ShellSettings {
  sandboxManager: SandboxManager
  sandbox: SandboxMode
  network: boolean
  readable: readonly string[]
  env: Readonly<Record<string, string>>
  limits: ShellLimits
}

export interface ShellPlace {
  /** The working folder, without links. */
  root: string
  state: ShellState
}

export async function openPlace({ sandboxManager }: ShellSettings, ctx: ToolContext): Promise<ShellPlace> {
  const root = await openRoot(sandboxManager, ctx)
  return { root, state: await openShellState(root) }
}

/** @throws Error when a sandbox is required and this machine has none */
export async function sandboxAt(settings: ShellSettings, { root, state }: ShellPlace): Promise<Sandbox | undefined> {
  if (settings.sandbox === 'off') return undefined
  const problem = await sandboxProblem()
  if (problem !== undefined) {
    if (settings.sandbox === 'required') throw new Error(`The shell needs a sandbox, and there is none: ${problem}.`)
    return undefined
  }
  const { network, readable } = settings
  return { workspace: root, tmp: state.tmp, network, readable: [...readable, state.output] }
}

/** The folder that the last command was left in, from the root on. */
const CWD = 'shell.cwd'

/** @returns undefined when the folder is not in the root */
export async function workingFolder(root: string, ctx: ToolContext, given?: string): Promise<string | undefined> {
  const kept = await ctx.values.get(CWD)
  const from = (typeof kept === 'string' && (await folderInside(root, join(root, kept)))) || root
  return given === undefined ? from : folderInside(root, given.startsWith('/') ? given : join(from, given))
}

/** @returns whether the folder may be kept */
export async function keepWorkingFolder(root: string, ctx: ToolContext, folder: string): Promise<boolean> {
  const inside = await folderInside(root, folder)
  if (inside === undefined || inside === root) ctx.values.delete(CWD)
  else ctx.values.set(CWD, inside.slice(root.length + 1))
  return inside !== undefined
}

async function folderInside(root: string, folder: string): Promise<string | undefined> {
  const real = await realpath(folder).catch(() => undefined)
  return real !== undefined && isInside(root, real) ? real : undefined
}

/** The id of a call's command: the same in every attempt. */
export function commandId({ idempotencyKey }: ToolContext): string {
  return `bash_${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 12)}`
}
