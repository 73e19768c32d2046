/** Write: writes a whole file. It may be repeated: the second run finds its own text. */
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import { atPlace, type Place, type SandboxManager } from './locate.ts'
import { oneByOne } from './one-by-one.ts'
import { Refusal } from './refusal.ts'
import { replaceFile } from './replace-file.ts'
import { showChange } from './shown-change.ts'
import { readBytes, SIZE_LIMIT } from './text-file.ts'
import { touched } from './touched.ts'
import { demandSeen, remember, textLine, versionOf } from './versions.ts'

const schema = z.object({
  file_path: z.string().describe('Path of the file, relative to the working directory'),
  content: z.string().describe('The whole text of the file'),
})

/**
 * Placeholders that models write instead of repeating a text. A pattern matches within one line: over many lines, each
 * would be read to the end.
 */
const OMISSION =
  /^[^\S\n]*(?:\/\/|#|\/\*|<!--|--)[^\S\n]*(?:\.\.\.|…)[^\S\n]*(?:the )?(?:rest|remaining|existing|unchanged|previous)\b/im

export function writeTool(sandbox: SandboxManager): Tool {
  return createTool({
    name: 'Write',
    kind: 'write',
    effect: 'idempotent',
    ordered: true,
    runsIn: 'workspace',
    description: {
      short: 'Writes a file, and the directories above it.',
      usageNotes: ['A file that exists is replaced, and must have been read before; to change a part of it, use Edit'],
    },
    aliases: { filePath: 'file_path', path: 'file_path' },
    schema,
    touches: ({ file_path }, ctx) => touched(sandbox, { session: ctx, given: file_path }, ['write']),
    execute: ({ file_path, content }, ctx) =>
      atPlace(sandbox, { session: ctx, given: file_path }, (place) =>
        oneByOne(place.path, () => write(place, content, ctx)),
      ),
  })
}

/** Whether a text is a placeholder for more than it says. */
export function omits(content: string): boolean {
  return OMISSION.test(content)
}

async function write(place: Place, content: string, ctx: ToolContext): Promise<unknown> {
  const bytes = Buffer.from(content)
  if (bytes.length > SIZE_LIMIT) throw new Refusal('content is larger than 10 MiB.')
  if (omits(content)) throw new Refusal('content leaves text out ("... rest of"): give the whole file, or use Edit.')
  const version = versionOf(bytes)
  const current = await readBytes(place)
  const before = current && versionOf(current)
  if (before !== version) {
    if (before !== undefined) await demandSeen(place, before, ctx)
    ctx.signal.throwIfAborted()
    await replaceFile(place, { bytes, before, idempotencyKey: ctx.idempotencyKey })
  }
  remember(place, version, ctx)
  const { diff, hunks } = showChange(place.name, current?.toString() ?? '', content)
  const done = `The file ${place.name} has been written.`
  return {
    success: true,
    llmContent: `${done}\n${textLine(place.name, content, version)}`,
    displayContent: diff ?? done,
    metadata: { file: place.name, structuredPatch: hunks ?? [] },
  }
}
