/** `stello tree --live`: the tree as it is now, drawn anew whenever it has changed, until its top is closed. */
import { setTimeout as delay } from 'node:timers/promises'
import type { SessionHandle, SessionTree } from '../../client/index.ts'
import { fitLine, onTerminal, terminalColumns } from './fit-line.ts'
import { treeLines } from './format.ts'
import { isMoving, lookAgainMs } from './look-pace.ts'
import type { Output } from './output.ts'

const ROWS = 40
/** To the beginning of the line so many lines above, and everything behind it gone. */
const BACK = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\r\u001b[J`)

/** On a terminal it draws over what it has drawn; elsewhere it prints each change. */
export async function showTreeLive(session: SessionHandle, out: Output, signal: AbortSignal): Promise<void> {
  let drawn = 0
  let before: string | undefined
  while (!signal.aborted) {
    const begun = performance.now()
    const tree = await session.tree()
    const tookMs = performance.now() - begun
    const now = out.json ? JSON.stringify(tree) : treeLines(tree).join('\n')
    if (now !== before) {
      if (out.json || !onTerminal()) out.result(tree, (shown) => treeLines(shown).join('\n'))
      else {
        out.write(tree, (shown) => {
          const lines = linesFor(shown)
          const text = `${BACK(drawn)}${lines.join('\n')}\n`
          drawn = lines.length
          return text
        })
      }
      before = now
    }
    if (tree.state === 'closed') return
    await delay(lookAgainMs(tookMs, isMoving(tree) ? 'moving' : 'still'), undefined, { signal }).catch(() => undefined)
  }
}

/** As much as the window shows: what has scrolled away cannot be drawn over. */
function linesFor(tree: SessionTree): string[] {
  const lines = treeLines(tree).map((line) => fitLine(line, terminalColumns()))
  const most = Math.max(2, (process.stdout.rows || ROWS) - 1)
  if (lines.length <= most) return lines
  return [...lines.slice(0, most - 1), `… and ${lines.length - most + 1} more`]
}
