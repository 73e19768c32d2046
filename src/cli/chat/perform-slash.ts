/** Carries out a slash command. */
import { readDevInfo } from '../../dev/dev-info.ts'
import { inboxLines, treeLines } from '../output/format.ts'
import { printable } from '../output/printable.ts'
import type { SessionTree } from '../../client/index.ts'
import { textOf } from './card-lines.ts'
import { recordItem } from './chat-conversation.ts'
import { panelOf } from './press-key.ts'
import { CHAT_KEYS } from './chat-keys.ts'
import type { Room } from './chat-room.ts'
import { SLASH_COMMANDS, type SlashCommand, type SlashName } from './slash-commands.ts'

/** @param rest the text behind the name; it has been checked */
export async function performSlash(room: Room, name: SlashName, rest: string): Promise<void> {
  const { stello, chat } = room
  const session = stello.session(chat.state.sessionId)
  const { conversation } = chat.state
  const reach = rest === 'tree' ? { tree: true } : {}
  switch (name) {
    case 'help':
      return chat.note([...SLASH_COMMANDS.map(helpLine), ...CHAT_KEYS.map(keyLine)].join('\n'))
    case 'tree':
      return chat.note(treeLines(printable(await session.tree())).join('\n'))
    case 'fork': {
      const child = await session.fork({ label: rest || 'from the chat', context: 'inherit' })
      return chat.note(`forked ${child.id}; /switch goes there`)
    }
    case 'switch':
      return choose(room)
    case 'pause':
      return void (await session.pause({ reason: 'in the chat', ...reach }))
    case 'resume':
      return void (await session.resume(reach))
    case 'cancel':
      if (rest === '' && conversation.turn === undefined && conversation.queue.length === 0)
        return chat.note('no turn runs')
      chat.note('cancels the turn that runs')
      return void (await session.cancelTurn(reach))
    case 'inbox':
      return inbox(room)
    case 'model':
      return chat.note(conversation.model === undefined ? 'no model has answered yet' : `${conversation.model} answers`)
    case 'usage': {
      const { turns, modelCalls, toolCalls, inputTokens, outputTokens, costUsd } = conversation.totals
      const cost = costUsd > 0 ? `, $${costUsd.toFixed(4)}` : ''
      return chat.note(
        `${count(turns, 'turn')}, ${count(modelCalls, 'model call')}, ${count(toolCalls, 'tool call')}, ${count(inputTokens, 'token')} in, ${outputTokens} out${cost}`,
      )
    }
    case 'transcript':
      for (const message of await session.transcript()) chat.tell({ told: 'item', item: recordItem(message) })
      return
    case 'expand':
      return expand(room)
    case 'compact':
      await session.compact()
      return chat.note('older messages are summarised between turns, if there is enough to summarise')
    case 'open':
      return chat.note((await links(room)).join('\n'))
    case 'quit':
      return room.leave()
  }
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}

function helpLine({ name, takes, means }: SlashCommand): string {
  return `${`/${name}${takes === undefined ? '' : ` ${takes}`}`.padEnd(16)} ${means}`
}

function keyLine({ keys, means }: { keys: string; means: string }): string {
  return `${keys.padEnd(16)} ${means}`
}

async function choose({ stello, chat }: Room): Promise<void> {
  const { rootId } = await stello.session(chat.state.sessionId).state()
  const all = flat(printable(await stello.session(rootId).tree()))
  const rows = all.map(({ id, label, state, depth }) => ({
    label: `${'  '.repeat(depth)}${label}${id === chat.state.sessionId ? ' (this one)' : ''}`,
    about: `${state} ${id}`,
    choice: { to: 'switch' as const, sessionId: id },
  }))
  chat.change((state) => ({ ...state, panel: { rows, at: 0, chosen: [], openedAt: 0 } }))
}

function flat(tree: SessionTree): SessionTree[] {
  return [tree, ...tree.children.flatMap(flat)]
}

async function inbox({ stello, chat }: Room): Promise<void> {
  const items = printable(await stello.inbox(chat.state.sessionId))
  if (items.length === 0) return chat.note('nothing waits for you here')
  chat.note(items.map(inboxLines).join('\n'))
  const [first] = items
  if (first) chat.change((state) => ({ ...state, inbox: items, panel: panelOf(first, Date.now()) }))
}

async function expand({ stello, chat }: Room): Promise<void> {
  const last = chat.state.conversation.items.findLast((item) => item.kind === 'call')
  if (last?.kind !== 'call') return chat.note('no call has ended yet')
  const { seq, result, title, name } = last.card
  const shown = textOf(result)
  const whole = seq === undefined ? shown : (await stello.session(chat.state.sessionId).record(seq)).message.content
  // The text for people may differ from the model's, for example a diff.
  const isBeginning = shown === '' || whole.startsWith(shown.replace(/…$/, ''))
  chat.tell({ told: 'item', item: { kind: 'whole', title: title ?? name, text: isBeginning ? whole : shown } })
}

async function links({ stello, chat }: Room): Promise<string[]> {
  const { sessionId } = chat.state
  const ui = stello.uiLink(sessionId) ?? (await uiOfDev(sessionId))
  return [ui === undefined ? 'the address of the Temporal UI is not known' : `Temporal UI  ${ui}`]
}

async function uiOfDev(sessionId: string): Promise<string | undefined> {
  const info = await readDevInfo().catch(() => undefined)
  const url = info?.temporal.uiUrl
  return url && `${url}/namespaces/${info.temporal.namespace}/workflows/${sessionId}`
}
