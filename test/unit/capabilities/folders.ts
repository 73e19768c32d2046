/**
 * A folder with something beside it that must stay hidden, and the tools of the pack on it, called as a session calls
 * them.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { toTool } from '../../../src/tool/to-tool.ts'
import { normalizeResult } from '../../../src/tool/result.ts'
import type { Message, Tool, ToolContext } from '../../../src/index.ts'
import { filesystem } from '../../../src/capabilities/index.ts'
import { testContext } from './test-context.ts'

export const SECRET = 'the secret beside the folder'

export interface Folder {
  /** The folder of the files that the tools see. */
  root: string
  /** The folder beside it. It has the file `secret.txt`. */
  outside: string
  call(tool: string, args: Record<string, unknown>): Promise<{ text: string; isError: boolean; details?: unknown }>
  tool(name: string): Tool
  context(): ToolContext
}

export function useFolder(files: Record<string, string | Buffer> = {}): Folder {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'stello-files-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [root, outside] = [join(base, 'root'), join(base, 'root-not')]
  for (const folder of [root, outside]) mkdirSync(folder)
  writeFileSync(join(outside, 'secret.txt'), SECRET)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(root, name, '..'), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  const { tools } = filesystem({ sandboxManager: { root } })
  const made = ('list' in tools ? tools.list() : tools).map(toTool)
  const messages: Message[] = []
  const sessionId = randomBytes(4).toString('hex')
  const { values } = testContext()
  const folder: Folder = {
    root,
    outside,
    tool: (name) => made.find((tool) => tool.name === name) as Tool,
    context: () =>
      testContext({
        sessionId,
        idempotencyKey: `${sessionId}.${messages.length}`,
        contextSnapshot: { messages: [...messages] },
        values,
      }),
    async call(name, args) {
      const tool = folder.tool(name)
      const checked = tool.check(args)
      if (!checked.ok) return { text: checked.problem, isError: true }
      const { content, isError, details } = normalizeResult(await tool.execute(checked.value, folder.context()))
      messages.push({ role: 'tool', name, content, toolCallId: 'c', ...(isError && { isError }) })
      return { text: content, isError, details }
    },
  }
  return folder
}

/** A result that begins and ends so, with the version of a file after it. */
export function version(text: string): string {
  return expect.stringMatching(new RegExp(`${text}, version [0-9a-f]{12}\\]$`)) as string
}
