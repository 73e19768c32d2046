/** A finished item as lines, printed once. Pure. */
import pc from 'picocolors'
import { cardLines, changeLines, isDiff } from './card-lines.ts'
import type { Item } from './chat-conversation.ts'
import { markdownLines } from './markdown-lines.ts'
import { wrapLines } from './wrap-lines.ts'

/** @param width columns */
export function itemLines(item: Item, width: number): string[] {
  switch (item.kind) {
    case 'message':
      return ['', ...wrapLines(item.text, width, pc.cyan('❯ '))]
    case 'answer':
      return ['', ...markdownLines(item.text, width)]
    case 'call':
      return ['', ...cardLines(item.card, width, item.card.since)]
    case 'whole':
      return ['', pc.bold(item.title), ...wholeLines(item.text, width)]
    case 'fork': {
      const how = [item.profile, item.awaited ? 'its answer is waited for' : undefined].filter(Boolean).join(', ')
      return wrapLines(`${item.label}${how === '' ? '' : ` (${how})`} ${pc.dim(item.child)}`, width, pc.magenta('├─ '))
    }
    case 'note':
      return wrapLines(item.text, width, pc.dim('· '))
    case 'record':
      return ['', ...wrapLines(item.text, width, pc.dim(`${item.role} │ `)).map((line) => pc.dim(line))]
  }
}

function wholeLines(text: string, width: number): string[] {
  return isDiff(text) ? changeLines(text, width) : wrapLines(text, width)
}
