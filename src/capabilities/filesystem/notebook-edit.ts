/** NotebookEdit: replaces, inserts or deletes a cell of a Jupyter notebook. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { createTool } from '../../tool/compat.ts'
import type { Tool, ToolContext, Verification } from '../../tool/tool.ts'
import { changeNotebook, wasChanged, type CellChange } from './change-notebook.ts'
import { atPlace, locate, type Place, type SandboxManager } from './locate.ts'
import { oneByOne } from './one-by-one.ts'
import { Refusal } from './refusal.ts'
import { replaceFile } from './replace-file.ts'
import { showChange } from './shown-change.ts'
import { readText, toBytes } from './text-file.ts'
import { touched } from './touched.ts'
import { demandSeen, remember, textLine, versionOf } from './versions.ts'

const schema = z.object({
  notebook_path: z.string().describe('Path of the notebook, relative to the working directory'),
  new_source: z.string().describe('The whole source of the cell; ignored by delete'),
  cell_id: z
    .string()
    .optional()
    .describe('As Read shows it. For insert: the cell before the new one; unset = at the start'),
  cell_type: z.enum(['code', 'markdown']).optional().describe('Needed by insert'),
  edit_mode: z.enum(['replace', 'insert', 'delete']).optional().describe('Default replace'),
})

const DONE = { replace: 'replaced', insert: 'inserted', delete: 'deleted' }

export function notebookEditTool(sandbox: SandboxManager): Tool {
  return createTool({
    name: 'NotebookEdit',
    kind: 'write',
    effect: 'non_idempotent',
    ordered: true,
    runsIn: 'workspace',
    description: {
      short: 'Replaces, inserts or deletes one cell of a Jupyter notebook.',
      usageNotes: ['Read the notebook first', 'A code cell that is replaced loses its outputs'],
    },
    aliases: { notebookPath: 'notebook_path', newSource: 'new_source', cellId: 'cell_id', path: 'notebook_path' },
    schema,
    touches: ({ notebook_path }, ctx) => touched(sandbox, { session: ctx, given: notebook_path }, ['read', 'write']),
    execute: (args, ctx) =>
      atPlace(sandbox, { session: ctx, given: args.notebook_path }, (place) =>
        oneByOne(place.path, () => edit(place, args, ctx)),
      ),
    async verify(args, ctx): Promise<Verification | undefined> {
      const place = await locate(sandbox, { session: ctx, given: args.notebook_path })
      const file = await readText(place)
      const happened = file && wasChanged({ name: place.name, text: file.text }, args, newIdOf(ctx))
      if (happened === undefined || !file) return undefined
      if (!happened) return { happened }
      remember(place, file.version, ctx)
      return { happened, result: `The notebook is as wanted.\n${textLine(place.name, file.text, file.version)}` }
    },
  })
}

async function edit(place: Place, change: CellChange, ctx: ToolContext): Promise<unknown> {
  const file = await readText(place)
  if (!file) throw new Refusal(`File not found: ${place.name}.`)
  const { text, id } = changeNotebook({ name: place.name, text: file.text }, change, newIdOf(ctx))
  await demandSeen(place, file.version, ctx)
  const bytes = toBytes(text, file.form)
  ctx.signal.throwIfAborted()
  await replaceFile(place, { bytes, before: file.version, idempotencyKey: ctx.idempotencyKey })
  const version = versionOf(bytes)
  remember(place, version, ctx)
  const { diff, hunks } = showChange(place.name, file.text, text)
  const done = `Cell ${id ?? change.cell_id ?? 'at the start'} of ${place.name}: ${DONE[change.edit_mode ?? 'replace']}.`
  return {
    success: true,
    llmContent: `${done}\n${textLine(place.name, text, version)}`,
    displayContent: diff ?? done,
    metadata: { file: place.name, structuredPatch: hunks ?? [] },
  }
}

/** The same at each repetition of the call, so that its cell is found again. */
function newIdOf({ idempotencyKey }: ToolContext): string {
  return createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 8)
}
