/** The pack of the shell. Its commands run where the worker runs, in a sandbox where the machine has one. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { StelloError } from '../../core/errors.ts'
import type { Tool } from '../../tool/tool.ts'
import { sandboxProblem } from '../sandbox/bubblewrap.ts'
import { rootProblem, type SandboxManager } from '../sandbox/root.ts'
import { bashTool } from './bash.ts'
import type { ShellLimits } from './command-line.ts'
import { disownShells } from './shell-owners.ts'
import { killShellTool, taskOutputTool, taskStopTool } from './shell-controls.ts'
import type { SandboxMode, ShellSettings } from './shell-settings.ts'

/** Options of `shell`. */
export interface ShellOptions {
  /** The working folder. Give `filesystem` the same. */
  sandboxManager: SandboxManager
  /**
   * `auto`: in a sandbox of bubblewrap where the machine has it. `required`: a worker without it does not start. `off`:
   * never. Default `auto`.
   */
  sandbox?: SandboxMode
  /** Whether commands in the sandbox have a network. Default false. Without a sandbox they always have. */
  network?: boolean
  /** Further folders that commands in the sandbox may read: absolute paths. */
  readable?: readonly string[]
  /** Variables for all commands. From the worker they get only PATH, the user's name, language and time zone. */
  env?: Readonly<Record<string, string>>
  /** Limits of each command. */
  limits?: ShellLimits
}

const MODES: readonly unknown[] = ['auto', 'required', 'off']

/**
 * The tools Bash, KillShell, TaskOutput and TaskStop. They need bash, and so Linux or macOS.
 *
 * @throws StelloError INVALID_ARGUMENT naming the option that is wrong
 * @example
 * const sandboxManager = { root: ({ sessionId }) => `/srv/sessions/${sessionId}` }
 * defineProfile({
 *   id: 'coder', agent: { model: 'anthropic:claude-sonnet-5' },
 *   capabilities: [filesystem({ sandboxManager }), shell({ sandboxManager, sandbox: 'required' })],
 * })
 */
export function shell(options: ShellOptions): CapabilityPack & { tools: readonly Tool[] } {
  const settings = read(options)
  return {
    name: 'shell',
    tools: [bashTool, killShellTool, taskOutputTool, taskStopTool].map((make) => make(settings)),
    sessionClosed: (session) => disownShells(settings, session),
    async open() {
      const problem = settings.sandbox === 'required' ? await sandboxProblem() : undefined
      if (problem === undefined) return
      throw new StelloError('INVALID_ARGUMENT', `shell: sandbox is required, and ${problem}`, {
        hint: "install bubblewrap and allow user namespaces, or give sandbox: 'auto'",
      })
    },
  }
}

function read({
  sandboxManager,
  sandbox = 'auto',
  network = false,
  readable = [],
  env = {},
  limits = {},
}: ShellOptions): ShellSettings {
  const { root } = sandboxManager
  refuse('sandboxManager.root', typeof root === 'function' ? undefined : rootProblem(root))
  refuse('sandbox', MODES.includes(sandbox) ? undefined : `must be 'auto', 'required' or 'off'`)
  for (const folder of readable) refuse('readable', rootProblem(folder))
  for (const [name, limit] of Object.entries(limits)) {
    refuse(`limits.${name}`, limit === undefined || limit > 0 ? undefined : 'must be more than 0')
  }
  return { sandboxManager, sandbox, network, readable, env, limits }
}

function refuse(option: string, problem: string | undefined): void {
  if (problem !== undefined) throw new StelloError('INVALID_ARGUMENT', `shell: ${option} ${problem}`)
}
