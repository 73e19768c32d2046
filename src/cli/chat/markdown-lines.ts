/**
 * Markdown as a person reads it in a terminal. The only control sequences are our own colours: the source must be printable
 * already. Pure.
 */
import { lexer, type Token, type Tokens } from 'marked'
import pc from 'picocolors'
import { isReadable } from '../../core/is-readable.ts'
import { tableLines } from './table-lines.ts'
import { wrapLines } from './wrap-lines.ts'

/** Lines of a rule. */
const RULE_WIDTH = 40

/**
 * @param width columns
 * @example markdownLines('**bold** `code`', 80) // ['bold code'], in bold and in colour
 */
export function markdownLines(source: string, width: number): string[] {
  if (!isReadable(source)) return wrapLines(source, width)
  try {
    return blockLines(lexer(source), width)
  } catch {
    // Nested too deeply, for example: it is still text.
    return wrapLines(source, width)
  }
}

function blockLines(tokens: readonly Token[], width: number): string[] {
  return tokens
    .filter(({ type }) => type !== 'space' && type !== 'def')
    .flatMap((token, index) => [...(index > 0 ? [''] : []), ...linesOf(token as Tokens.Generic, width)])
}

function linesOf(token: Tokens.Generic, width: number): string[] {
  switch (token.type) {
    case 'heading': {
      const text = pc.bold(inline(token))
      return wrapLines(token['depth'] === 1 ? pc.underline(text) : text, width)
    }
    case 'code': {
      const { text, lang } = token as Tokens.Code
      return [
        ...(lang ? [pc.dim(`  ${lang}`)] : []),
        ...text.split('\n').flatMap((line) => wrapLines(pc.cyan(line), width, '  ')),
      ]
    }
    case 'list':
      return listLines(token as Tokens.List, width)
    case 'blockquote':
      return blockLines(token.tokens ?? [], width - 2).map((line) => `${pc.dim('│')} ${line}`.trimEnd())
    case 'table':
      return tableOf(token as Tokens.Table, width)
    case 'hr':
      return [pc.dim('─'.repeat(Math.min(width, RULE_WIDTH)))]
    default:
      return wrapLines(inline(token), width)
  }
}

function listLines({ items, ordered, start, loose }: Tokens.List, width: number): string[] {
  return items.flatMap((item, index) => {
    const mark = ordered ? `${Number(start || 1) + index}. ` : '• '
    const between = loose && index > 0 ? [''] : []
    // A tight item is a text and perhaps a list: no empty line between them.
    const blocks = item.tokens.filter(({ type }) => type !== 'space' && type !== 'checkbox')
    const lines = blocks.flatMap((block, nth) => [
      ...(loose && nth > 0 ? [''] : []),
      ...linesOf(block as Tokens.Generic, Math.max(1, width - mark.length)),
    ])
    const box = item.task ? (item.checked ? '☑ ' : '☐ ') : ''
    const shown = lines.length > 0 ? lines : ['']
    return [
      ...between,
      ...shown.map((line, nth) => `${nth === 0 ? mark + box : ' '.repeat(mark.length)}${line}`.trimEnd()),
    ]
  })
}

function tableOf({ header, rows, align }: Tokens.Table, width: number): string[] {
  const cells = (row: Tokens.TableCell[]): string[] => row.map((cell) => inline(cell).replace(/\s+/g, ' '))
  const sides = align.map((side) => side ?? 'left')
  return tableLines({ head: cells(header).map((cell) => pc.bold(cell)), rows: rows.map(cells), align: sides }, width)
}

/** The text of a block or of a part of a line, in colours. */
function inline({ tokens, text = '' }: { tokens?: Token[] | undefined; text?: string }): string {
  return tokens ? tokens.map((token) => styled(token as Tokens.Generic)).join('') : text
}

function styled(token: Tokens.Generic): string {
  switch (token.type) {
    case 'strong':
      return pc.bold(inline(token))
    case 'em':
      return pc.italic(inline(token))
    case 'del':
      return pc.strikethrough(inline(token))
    case 'codespan':
      return pc.cyan(token['text'] as string)
    case 'br':
      return '\n'
    case 'checkbox':
      return ''
    case 'link':
      return linked(inline(token), token['href'] as string)
    case 'image':
      return linked(`[image${token['text'] ? `: ${token['text'] as string}` : ''}]`, token['href'] as string)
    default:
      return inline(token as { tokens?: Token[]; text?: string })
  }
}

/** The text and the address of a link, so that a person reads the address before following it. */
function linked(text: string, href: string): string {
  const shown = text === href || `mailto:${text}` === href
  return shown ? pc.underline(text) : `${pc.underline(text)} ${pc.dim(`(${href})`)}`
}
