/**
 * The part of the chat that is drawn again and again below the finished items: streaming text, calls, forks, open questions,
 * the line to type in. Never higher than the screen, since a terminal cannot redraw lines that have left it. Pure.
 */
import pc from 'picocolors'
import stringWidth from 'string-width'
import type { InboxItem, SessionTree } from '../../client/index.ts'
import { treeLines, weatherText } from '../output/format.ts'
import { printable } from '../output/printable.ts'
import { cardLines, changeLines, seconds, textOf } from './card-lines.ts'
import type { ChatState, Panel } from './chat-state.ts'
import { markdownLines } from './markdown-lines.ts'
import { NEW_PANEL_MS } from './press-key.ts'
import { completions } from './slash-commands.ts'
import type { Frame } from './terminal-frame.ts'
import { cutLine, oneLineOf, wrapLines } from './wrap-lines.ts'

/** How many lines of a long text are shown. */
const EDITOR_LINES = 8
const TREE_LINES = 8
const QUEUE_LINES = 3
const PREVIEW_LINES = 12
/** How many lines of one argument, and of the list of touches, are shown. */
const ARGUMENT_LINES = 6
/** How many characters of a streaming text are laid out. */
const STREAMED = 6000

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

export function liveLines(state: ChatState, size: { columns: number; rows: number }, now: Date): Frame {
  const width = Math.max(10, size.columns - 1)
  const most = Math.max(4, size.rows - 1)
  const typing = editorLines(state, width)
  const below = [...hintLines(state, width), statusLine(state, width, now)]
  const panel = state.panel
    ? panelLines(state.panel, state.tree, { width, rows: most - 1 - typing.lines.length - below.length, now })
    : []
  const fixed = [...panel, '', ...typing.lines]
  const room = Math.max(0, most - fixed.length - below.length)
  const others = [...cards(state, width, now), ...forkLines(state, width), ...queueLines(state, width)]
  const kept = others.slice(Math.max(0, others.length - room))
  const streamed = tail(streamLines(state, width), room - kept.length)
  const lines = [...streamed, ...kept, ...fixed, ...below]
  const cut = Math.max(0, lines.length - most)
  const y = streamed.length + kept.length + panel.length + 1 + typing.y - cut
  return { lines: lines.slice(cut), cursor: { x: typing.x, y: Math.max(0, y) } }
}

function tail(lines: readonly string[], room: number): readonly string[] {
  if (lines.length <= room) return lines
  return room < 2 ? [] : [pc.dim(`… ${lines.length - room + 1} lines above`), ...lines.slice(lines.length - room + 1)]
}

/** The end of the text: the whole is printed when it is complete. */
function streamLines({ conversation: { stream } }: ChatState, width: number): string[] {
  if (!stream) return []
  if (stream.text === '') {
    const thought = stream.reasoning.trim()
    return thought === '' ? [] : [pc.dim(pc.italic(oneLineOf(`thinks: ${thought.slice(-width)}`, width)))]
  }
  const start = Math.max(0, stream.text.length - STREAMED)
  // A line that is longer is shown from its middle.
  const from = start === 0 ? 0 : stream.text.indexOf('\n', start) + 1 || start
  const inCode = (stream.text.slice(0, from).match(/^```/gm)?.length ?? 0) % 2 === 1
  return ['', ...markdownLines((inCode ? '```\n' : '') + stream.text.slice(from), width)]
}

function cards({ conversation }: ChatState, width: number, now: Date): string[] {
  return conversation.cards.flatMap((card) => cardLines(card, width, now))
}

function forkLines({ tree }: ChatState, width: number): string[] {
  const open = (tree?.children ?? []).filter(isOpen).map(withoutClosed)
  const lines = open.flatMap((child, at) => treeLines(child, '', at === open.length - 1 ? '└─ ' : '├─ '))
  const shown = lines.slice(0, TREE_LINES).map((line) => wrapLines(line, width)[0] ?? '')
  return lines.length > TREE_LINES ? [...shown, pc.dim(`   … ${lines.length - TREE_LINES} more (/tree)`)] : shown
}

function isOpen({ state, children }: SessionTree): boolean {
  return state !== 'closed' || children.some(isOpen)
}

function withoutClosed(tree: SessionTree): SessionTree {
  return { ...tree, children: tree.children.filter(isOpen).map(withoutClosed) }
}

function queueLines({ conversation: { queue } }: ChatState, width: number): string[] {
  const shown = queue.slice(0, QUEUE_LINES).map(({ text }) => pc.dim(oneLineOf(`⏳ waits: ${text}`, width)))
  return queue.length > QUEUE_LINES ? [...shown, pc.dim(`   … ${queue.length - QUEUE_LINES} more wait`)] : shown
}

/** @param size the free rows. The question and the choices always stand; the lines between them may be cut */
function panelLines(
  { item, rows: offered, at, openedAt }: Panel,
  tree: SessionTree | undefined,
  { width, rows, now }: { width: number; rows: number; now: Date },
): string[] {
  const about = item ? itemLines(item, tree, width) : [pc.bold('which session?')]
  const choices = offered.map(({ label, about: means }, nth) => {
    const text = `${label}${means ? pc.dim(` – ${means}`) : ''}`
    const mark = nth === at ? pc.cyan('❯ ') : '  '
    return wrapLines(nth === at ? pc.cyan(text) : text, width, `${mark}${nth < 9 ? `${nth + 1}. ` : '   '}`)
  })
  const choosing = around(choices, at, Math.max(3, rows - Math.min(2, about.length) - 2))
  const shown = cutTo(about, Math.max(2, rows - choosing.length - 2), width)
  const answers = now.getTime() - openedAt >= NEW_PANEL_MS
  return ['', ...shown, ...choosing, pc.dim(oneLineOf(answers ? '↑↓ Enter, or a number; Esc: later' : '…', width))]
}

/** The rows around the chosen one that fit; how many are left out is told. */
function around(choices: readonly string[][], at: number, most: number): string[] {
  if (choices.flat().length <= most) return choices.flat()
  let [from, to] = [at, at + 1]
  const fits = (begin: number, end: number): boolean =>
    begin >= 0 && end <= choices.length && choices.slice(begin, end).flat().length <= most - 2
  for (let grown = true; grown;) {
    grown = false
    if (fits(from, to + 1)) [to, grown] = [to + 1, true]
    if (fits(from - 1, to)) [from, grown] = [from - 1, true]
  }
  const left = choices.length - to
  return [
    ...(from > 0 ? [pc.dim(`   … ${from} above`)] : []),
    ...choices.slice(from, to).flat(),
    ...(left > 0 ? [pc.dim(`   … ${left} below`)] : []),
  ]
}

/** A cut is never silent: a person who approves must know that there is more. */
function cutTo(lines: readonly string[], most: number, width: number): readonly string[] {
  if (lines.length <= most) return lines
  const more = pc.yellow(oneLineOf(`  … ${lines.length - most + 1} more lines: not all is shown here`, width))
  return [...lines.slice(0, most - 1), more]
}

function itemLines(item: InboxItem, tree: SessionTree | undefined, width: number): string[] {
  const where = tree && item.sessionId !== tree.id ? pc.dim(` (${item.label}, ${item.sessionId})`) : ''
  const head = wrapLines(`${pc.bold(item.message)}${where}`, width, pc.yellow('? '))
  if (item.kind === 'paused') return head
  const { permit, form, preview } = item
  // The arguments are shown too, however much the call touches.
  const touches =
    permit && permit.touches.length > 0
      ? cutTo(wrapLines(`touches ${permit.touches.join(', ')}`, width, '  '), ARGUMENT_LINES, width)
      : []
  const asked = form ? [] : previewLines(preview, width)
  const bar = pc.dim('  │ ')
  const more = [
    ...(form?.header ? wrapLines(pc.bold(form.header), width, '  ') : []),
    ...(form?.preview ? wrapLines(form.preview, width, { first: bar, rest: bar }) : []),
    ...(form?.schema ? wrapLines(pc.dim(`values: ${JSON.stringify(form.schema)}`), width, '  ') : []),
  ]
  return [...head, ...cutTo([...touches, ...asked, ...more], PREVIEW_LINES, width)]
}

/** The arguments of the call that is asked about. A change of a file is shown as a diff. */
function previewLines(preview: string, width: number): string[] {
  try {
    const params = JSON.parse(preview) as Record<string, unknown>
    const [removed, added] = [params['old_string'], params['new_string']]
    const others = Object.entries(params).filter(
      ([key]) => typeof removed !== 'string' || !/^(old|new)_string$/.test(key),
    )
    const lines = others.flatMap(([key, value]) =>
      cutTo(wrapLines(`${pc.dim(`${key}:`)} ${inOnePiece(value)}`, width, '  '), ARGUMENT_LINES, width),
    )
    const change = (text: unknown, mark: string): string =>
      textOf(text)
        .split('\n')
        .map((line) => mark + line)
        .join('\n')
    return typeof removed !== 'string'
      ? lines
      : [...lines, ...changeLines(`@@\n${change(removed, '-')}\n${change(added, '+')}`, width).slice(1)]
  } catch {
    return [...cutTo(wrapLines(pc.dim(preview), width, '  '), ARGUMENT_LINES, width)]
  }
}

/** Without empty lines, which would push the lines behind them out of sight. */
function inOnePiece(value: unknown): string {
  return typeof value === 'string' && value.includes('\n') ? JSON.stringify(value) : textOf(value)
}

/** The line, or as much of it around the cursor as there is room for. */
function editorLines({ editor, typing }: ChatState, width: number): { lines: string[]; x: number; y: number } {
  const first = typing ? `${pc.yellow(typing.prompt)} ❯ ` : `${pc.cyan('❯')} `
  const indent = stringWidth(first)
  const room = width - indent
  // No more is laid out than can be seen: it is done for every key.
  const start = Math.max(0, editor.cursor - room * EDITOR_LINES * 2)
  const before = typedLines(editor.text.slice(start, editor.cursor), room)
  const all = typedLines(editor.text.slice(start, editor.cursor + room * EDITOR_LINES), room)
  const y = before.length - 1
  const from = Math.max(0, Math.min(y - EDITOR_LINES + 2, all.length - EDITOR_LINES))
  const lines = all.slice(from, from + EDITOR_LINES)
  const above = from > 0 ? [pc.dim(`  … ${start > 0 ? 'more' : `${from} lines`} above`)] : []
  return {
    lines: [...above, ...lines.map((line, nth) => `${nth === 0 && from === 0 ? first : ' '.repeat(indent)}${line}`)],
    x: indent + stringWidth(before.at(-1) ?? ''),
    y: above.length + y - from,
  }
}

/** Cut where the columns end, so that the place of the cursor does not depend on the text behind it. */
function typedLines(text: string, columns: number): string[] {
  return printable(text)
    .split('\n')
    .flatMap((line) => cutLine(line.replaceAll('\t', '  '), columns))
}

function hintLines({ hint, editor }: ChatState, width: number): string[] {
  if (hint !== undefined) return wrapLines(pc.yellow(hint), width)
  const known = completions(editor.text)
  return known
    .map(({ name, takes, means }) => oneLineOf(`  /${name}${takes === undefined ? '' : ` ${takes}`} – ${means}`, width))
    .map((line) => pc.dim(line))
}

function statusLine(state: ChatState, width: number, now: Date): string {
  const { conversation, tree, inbox, unserved } = state
  const { weather, model, totals, paused, closed } = conversation
  const waits =
    inbox.length === 0 ? '' : pc.yellow(`${inbox.length} ${inbox.length === 1 ? 'waits' : 'wait'} for you (Tab)`)
  const parts = [
    doing(state, now),
    weather ? pc.yellow(weatherText({ ...weather, since: now })) : '',
    paused ? pc.red('paused: /resume goes on') : '',
    closed ? pc.dim('closed: Ctrl-D leaves') : '',
    unserved ? pc.red(`no worker serves ${tree?.agent ?? 'the agent'}: start one`) : '',
    waits,
    pc.dim([tree?.label, model, totals.modelCalls > 0 ? tokens(totals) : undefined].filter(Boolean).join(' · ')),
  ]
  return wrapLines(parts.filter(Boolean).join(pc.dim(' · ')), width)[0] ?? ''
}

function doing({ conversation: { turn, stream, cards: calls }, tree, inbox }: ChatState, now: Date): string {
  if (turn === undefined) return ''
  const since = calls[0]?.since ?? tree?.inHand[0]?.since
  if (tree?.state === 'waiting' && inbox.length > 0) return pc.yellow('waits')
  const what = calls.length > 0 ? 'tools' : stream?.text ? 'answers' : 'thinks'
  const frame = SPINNER[Math.floor(now.getTime() / 120) % SPINNER.length]
  return `${pc.green(frame ?? '')} ${what}${since ? ` ${seconds(now.getTime() - since.getTime())}` : ''}`
}

function tokens({
  inputTokens,
  outputTokens,
  costUsd,
}: {
  inputTokens: number
  outputTokens: number
  costUsd: number
}): string {
  return `${inputTokens} in, ${outputTokens} out${costUsd > 0 ? `, $${costUsd.toFixed(4)}` : ''}`
}
