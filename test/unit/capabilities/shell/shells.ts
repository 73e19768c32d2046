/** A working folder with something beside it, and the tools of the pack on it, called as a session calls them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { shell, type ShellOptions } from '../../../../src/capabilities/index.ts'
import type { Tool, ToolContext } from '../../../../src/index.ts'
import { normalizeResult, type NormalizedResult } from '../../../../src/tool/result.ts'
import { testContext } from '../test-context.ts'

export interface UsedShell {
  root: string
  /** Beside the root. */
  outside: string
  call(tool: string, args: Record<string, unknown>, given?: Partial<ToolContext>): Promise<NormalizedResult>
  bash(command: string, args?: Record<string, unknown>): Promise<NormalizedResult>
  /** Runs a command. Its call is stopped at the first output. */
  stopAtOutput(command: string): Promise<void>
  tool(name: string): Tool
  /** Of one more call of the same session. */
  context(given?: Partial<ToolContext>): ToolContext
}

export function useShell(options: Partial<ShellOptions> = {}): UsedShell {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'stello-shell-')))
  const [root, outside] = [join(base, 'root'), join(base, 'outside')]
  for (const folder of [root, outside]) mkdirSync(folder)
  writeFileSync(join(outside, 'secret.txt'), 'the secret outside')
  const { tools } = shell({ sandboxManager: { root }, ...options })
  const first = testContext()
  const started: string[] = []
  let calls = 0
  const used: UsedShell = {
    root,
    outside,
    tool: (name) => tools.find((tool) => tool.name === name) as Tool,
    context: (given) => testContext({ values: first.values, idempotencyKey: `${base}-${calls++}`, ...given }),
    async call(name, args, given) {
      const tool = used.tool(name)
      const checked = tool.check(args)
      if (!checked.ok) return { content: checked.problem, isError: true }
      const result = normalizeResult(await tool.execute(checked.value, used.context(given)))
      const id = (result.details as { shell_id?: string } | undefined)?.shell_id
      if (id) started.push(id)
      return result
    },
    async stopAtOutput(command) {
      const stop = new AbortController()
      const updateOutput = (): void => stop.abort(new Error('stopped'))
      await expect(used.call('Bash', { command }, { signal: stop.signal, updateOutput })).rejects.toThrow('stopped')
    },
    bash: (command, args) => used.call('Bash', { command, ...args }),
  }
  onTestFinished(async () => {
    for (const id of started) await used.call('KillShell', { shell_id: id })
    rmSync(base, { recursive: true, force: true })
  })
  return used
}

export function idOf({ details }: NormalizedResult): string {
  return (details as { shell_id: string }).shell_id
}
