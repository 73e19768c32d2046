/** The pack on real servers, its tools called as a session calls them. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { mcp, type McpOptions, type McpProgram } from '../../../../src/capabilities/index.ts'
import { normalizeResult, type NormalizedResult } from '../../../../src/tool/result.ts'
import { toTool } from '../../../../src/tool/to-tool.ts'
import type { Tool, ToolContext } from '../../../../src/index.ts'
import { testContext } from '../test-context.ts'

export interface Pack {
  tools(ctx?: ToolContext): Promise<Tool[]>
  names(ctx?: ToolContext): Promise<string[]>
  /** Rejects as the tool does. */
  call(name: string, args?: Record<string, unknown>, ctx?: ToolContext): Promise<NormalizedResult>
}

export async function usePack(servers: McpOptions['servers']): Promise<Pack> {
  const pack = mcp({ servers })
  onTestFinished(async () => pack.close?.())
  await pack.open?.()
  const use: Pack = {
    tools: async (ctx = testContext()) => (await pack.tools(ctx)).map(toTool),
    names: async (ctx) => (await use.tools(ctx)).map(({ name }) => name),
    async call(name, args = {}, ctx = testContext()) {
      const tool = (await use.tools(ctx)).find((each) => each.name === name)
      if (!tool) throw new Error(`there is no tool ${name}`)
      const checked = tool.check(args)
      if (!checked.ok) return { content: checked.problem, isError: true }
      return normalizeResult(await tool.execute(checked.value, ctx))
    },
  }
  return use
}

/** The program of a server from npm. */
export function published(name: 'everything' | 'filesystem' | 'memory', ...args: string[]): McpProgram {
  const manifest = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/package.json`)
  return { command: process.execPath, args: [join(dirname(manifest), 'dist/index.js'), ...args] }
}

export interface Bad {
  server: McpProgram
  /** What the server has done, a word each. */
  journal(): string[]
}

/** A server that misbehaves, see `bad-server.mjs`. */
export function badServer(...habits: string[]): Bad {
  const journal = join(useFolder(), 'journal')
  const program = fileURLToPath(new URL('bad-server.mjs', import.meta.url))
  return {
    server: { command: process.execPath, args: [program, journal, ...habits] },
    journal: () => (existsSync(journal) ? readFileSync(journal, 'utf8').trimEnd().split('\n') : []),
  }
}

export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stello-mcp-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
