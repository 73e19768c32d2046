/** Edit: replaces a text in a file. It must not run twice: the second run might replace what the first one wrote. */
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext, Verification } from '../../tool/tool.ts'
import { atPlace, locate, type Place, type SandboxManager } from './locate.ts'
import { oneByOne } from './one-by-one.ts'
import { replaceFile } from './replace-file.ts'
import { replaceText, takenBack, wasReplaced, type Change } from './replace-text.ts'
import { showChange } from './shown-change.ts'
import { readText, toBytes, type Form, type TextFile } from './text-file.ts'
import { touched } from './touched.ts'
import { demandSeen, remember, seenVersion, textLine, versionOf } from './versions.ts'

const schema = z.object({
  file_path: z.string().describe('Path of the file, relative to the working directory'),
  old_string: z.string().describe('The text to replace; it must be unique in the file unless replace_all is set'),
  new_string: z.string().describe('What stands there afterwards'),
  replace_all: z.boolean().optional().describe('Replace every occurrence; default false'),
})

const NEW: Form = { bom: false, crlf: false }

export function editTool(sandbox: SandboxManager): Tool {
  return createTool({
    name: 'Edit',
    kind: 'write',
    effect: 'non_idempotent',
    ordered: true,
    runsIn: 'workspace',
    description: {
      short: 'Replaces an exact text in a file.',
      usageNotes: [
        'Read the file first; give old_string as it stands there, without the line numbers',
        'An empty old_string creates a file that does not exist',
      ],
    },
    aliases: {
      filePath: 'file_path',
      path: 'file_path',
      oldString: 'old_string',
      newString: 'new_string',
      replaceAll: 'replace_all',
    },
    schema,
    touches: ({ file_path }, ctx) => touched(sandbox, { session: ctx, given: file_path }, ['read', 'write']),
    execute: (args, ctx) =>
      atPlace(sandbox, { session: ctx, given: args.file_path }, (place) =>
        oneByOne(place.path, () => edit(place, args, ctx)),
      ),
    async verify(args, ctx): Promise<Verification | undefined> {
      const place = await locate(sandbox, { session: ctx, given: args.file_path })
      const file = await readText(place)
      const change = inForm(args, file?.form ?? NEW)
      const seen = await seenVersion(place, ctx)
      const happened = isMadeOf(seen, file, change) || wasReplaced(file?.text, change)
      if (!happened || !file) return happened === false ? { happened } : undefined
      remember(place, file.version, ctx)
      return {
        happened,
        result: `The file ${place.name} holds the new text.\n${textLine(place.name, file.text, file.version)}`,
      }
    },
  })
}

/**
 * Whether the change, taken back, gives the version that the session had seen before: an edit demands that version. So
 * this is certain, and no other program has changed the file since.
 */
function isMadeOf(seen: string | undefined, file: TextFile | undefined, change: Change): boolean {
  if (!file || seen === undefined) return false
  for (const before of takenBack(file.text, change)) if (versionOf(toBytes(before, file.form)) === seen) return true
  return false
}

async function edit(place: Place, args: Change, ctx: ToolContext): Promise<unknown> {
  const file: TextFile | undefined = await readText(place)
  const form = file?.form ?? NEW
  const after = replaceText(file?.text, inForm(args, form))
  if (file) await demandSeen(place, file.version, ctx)
  const bytes = toBytes(after, form)
  ctx.signal.throwIfAborted()
  await replaceFile(place, { bytes, before: file?.version, idempotencyKey: ctx.idempotencyKey })
  const version = versionOf(bytes)
  remember(place, version, ctx)
  const { snippet, diff, hunks } = showChange(place.name, file?.text ?? '', after)
  const done = `The file ${place.name} has been ${file ? 'updated' : 'created'}.`
  return {
    success: true,
    llmContent: [done, snippet, textLine(place.name, after, version)].filter(Boolean).join('\n'),
    displayContent: diff ?? done,
    metadata: { file: place.name, structuredPatch: hunks ?? [] },
  }
}

function inForm(change: Change, { crlf }: Form): Change {
  if (!crlf) return change
  const lf = (text: string): string => text.replaceAll('\r\n', '\n')
  return { ...change, old_string: lf(change.old_string), new_string: lf(change.new_string) }
}
