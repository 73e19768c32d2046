/** The file that a call of a file tool would touch, for permission rules. */
import { StelloError } from '../../core/errors.ts'
import type { Touch } from '../../tool/touch.ts'
import { atPlace, type GivenPath, type SandboxManager } from './locate.ts'

/** @throws StelloError TOOL_PRECONDITION_FAILED when the tool would refuse the path: nobody needs to be asked about it */
export async function touched(
  sandbox: SandboxManager,
  asked: GivenPath,
  kinds: readonly ('read' | 'write')[],
): Promise<Touch[]> {
  const found = await atPlace(sandbox, asked, async ({ root, path }) => ({ root, path }))
  if ('path' in found) return kinds.map((kind) => ({ kind, ...found }))
  throw new StelloError('TOOL_PRECONDITION_FAILED', found.error)
}
