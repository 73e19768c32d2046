/** What keys do in a chat. */
import { describe, expect, it } from 'vitest'
import type { InboxItem } from '../../../../src/client/index.ts'
import { createChat } from '../../../../src/cli/chat/create-chat.ts'
import type { ChatState, Intent } from '../../../../src/cli/chat/chat-state.ts'
import { NEW_CONVERSATION } from '../../../../src/cli/chat/chat-conversation.ts'
import { EMPTY_EDITOR, type Key } from '../../../../src/cli/chat/editor.ts'
import { NEW_PANEL_MS, TWICE_MS, offered, pressKey, withLine } from '../../../../src/cli/chat/press-key.ts'

const NEW: ChatState = createChat('s', [], () => undefined).state
const ENTER: Key = { name: 'return', text: '\r' }
const CTRL_C: Key = { name: 'c', ctrl: true, text: '\u0003' }
const keys = (text: string): Key[] => Array.from(text, (letter) => ({ name: letter, text: letter }))

/** All keys, one after the other. */
function press(state: ChatState, pressed: Key[], now = 10_000): { state: ChatState; intents: Intent[] } {
  const intents: Intent[] = []
  for (const key of pressed) {
    const [next, ...wanted] = pressKey(state, key, now)
    state = next
    intents.push(...wanted)
  }
  return { state, intents }
}

const approval = {
  sessionId: 's',
  label: 's',
  agent: 'a',
  id: 'i',
  kind: 'approval',
  name: 'Bash',
  callId: 'c',
  turn: 1,
  round: 0,
  preview: '{}',
  message: 'may it?',
  at: '2026-01-01T00:00:00Z',
  permit: { hash: 'h', touches: [], rules: ['Bash(ls)'] },
} as InboxItem
const question = {
  ...approval,
  kind: 'question',
  permit: undefined,
  form: { hash: 'h', options: [{ label: 'red' }, { label: 'blue' }], multiSelect: true },
} as unknown as InboxItem
const asked = (item: InboxItem): ChatState => offered({ ...NEW, inbox: [item] }, 0)

describe('a line', () => {
  it('is sent by Enter, kept for the arrow keys, and empty then', () => {
    const { state, intents } = press(NEW, [...keys('hi'), ENTER])
    expect(intents).toEqual([{ do: 'send', text: 'hi' }])
    expect(state.editor).toEqual({ text: '', cursor: 0, history: ['hi'] })
    expect(press(state, [{ name: 'up' }]).state.editor.text).toBe('hi')
  })

  it('gets another line by Alt-Enter, and by a backslash before Enter', () => {
    const { intents } = press(NEW, [...keys('a'), { ...ENTER, meta: true }, ...keys('b\\'), ENTER, ...keys('c'), ENTER])
    expect(intents).toEqual([{ do: 'send', text: 'a\nb\nc' }])
  })

  it('takes a paste as text, whatever is in it: nothing is sent and nothing done', () => {
    const { state, intents } = press(NEW, [{ name: 'paste', text: 'one\r\u0003\u001b\u001b[0m[31m/quit\u001b[0m\r\n' }])
    expect(intents).toEqual([])
    expect(state.editor.text).toBe('one\n[31m/quit\n')
  })

  it('with an unknown slash command is told, and not sent; a path is a message', () => {
    expect(press(NEW, [...keys('/nope'), ENTER]).intents).toMatchObject([
      { do: 'tell', text: expect.stringContaining('nothing was sent') },
    ])
    expect(press(NEW, [...keys('/etc/hosts is what?'), ENTER]).intents).toMatchObject([{ do: 'send' }])
    expect(press(NEW, [...keys('/pau'), { name: 'tab' }, ...keys('tree'), ENTER]).intents).toEqual([
      { do: 'command', name: 'pause', rest: 'tree' },
    ])
  })
})

describe('Ctrl-C', () => {
  const running: ChatState = { ...NEW, conversation: { ...NEW_CONVERSATION, turn: 1 } }

  it('cancels what runs; again within two seconds, it leaves', () => {
    expect(press(running, [CTRL_C]).intents).toEqual([{ do: 'cancel' }])
    expect(press(NEW, [CTRL_C]).intents).toEqual([])
    expect(press(running, [CTRL_C, CTRL_C]).intents).toEqual([{ do: 'cancel' }, { do: 'leave' }])
    expect(press(press(running, [CTRL_C], 0).state, [CTRL_C], TWICE_MS).intents).toEqual([{ do: 'cancel' }])
  })

  it('leaves by Ctrl-D on an empty line only', () => {
    const end: Key = { name: 'd', ctrl: true }
    expect(press(NEW, [end]).intents).toEqual([{ do: 'leave' }])
    expect(press(NEW, [...keys('x'), end]).intents).toEqual([])
  })
})

it('what Ctrl-C empties can be had back by the arrow keys', () => {
  const { state } = press(NEW, [...keys('draft'), CTRL_C])
  expect(state.editor.text).toBe('')
  expect(press(state, [{ name: 'up' }]).state.editor.text).toBe('draft')
})

it('Ctrl-G asks for the editor, and Tab behind an @ for the path; both leave the line as it is', () => {
  expect(press(NEW, [...keys('a'), { name: 'g', ctrl: true }]).intents).toEqual([{ do: 'compose' }])
  const { state, intents } = press(NEW, [...keys('see @sr'), { name: 'tab' }])
  expect(intents).toEqual([{ do: 'complete' }])
  expect(state.editor.text).toBe('see @sr')
})

describe('a question', () => {
  it('comes while nothing is typed, and answers to no key for a moment', () => {
    const state = asked(approval)
    expect(state.panel?.item).toBe(approval)
    expect(press(state, [ENTER], NEW_PANEL_MS - 1).intents).toEqual([])
    expect(press(state, [ENTER], NEW_PANEL_MS).intents).toEqual([
      { do: 'answer', item: approval, answer: { decision: 'approve' } },
    ])
    expect(offered({ ...NEW, inbox: [approval], editor: { ...EMPTY_EDITOR, text: 'x' } }, 0).panel).toBeUndefined()
  })

  it('is put off by a letter, which is text, and does not come back by itself', () => {
    const { state, intents } = press(asked(approval), keys('yes'))
    expect(intents).toEqual([])
    expect(state.editor.text).toBe('yes')
    const empty = offered({ ...state, editor: EMPTY_EDITOR }, 0)
    expect(empty.panel).toBeUndefined()
    expect(press(empty, [{ name: 'tab' }]).state.panel?.item).toBe(approval)
  })

  it('is remembered where the row says, denied with a reason, and gone when somebody else has answered', () => {
    expect(press(asked(approval), keys('3')).intents).toMatchObject([
      { answer: { decision: 'approve', remember: 'tree' } },
    ])
    const { intents } = press(asked(approval), [...keys('7'), ...keys('no'), ENTER])
    expect(intents).toMatchObject([{ answer: { decision: 'deny', text: 'no' } }])
    expect(offered({ ...asked(approval), inbox: [] }, 0).panel).toBeUndefined()
  })

  it('with options to choose several of is answered by all that are chosen', () => {
    const { intents } = press(asked(question), keys('123'))
    expect(intents).toMatchObject([{ answer: { decision: 'answer', text: 'red, blue' } }])
  })

  it('that comes up again while its arguments are edited is put away: Enter is meant for the arguments', () => {
    const typing = { item: approval, answer: { decision: 'approve' }, prompt: 'arguments', field: 'args' } as const
    const state = offered(withLine(asked(approval), '{"a":1}', typing), 0)
    expect(press(state, [ENTER]).intents).toMatchObject([{ answer: { decision: 'approve', args: { a: 1 } } }])
  })

  it('that comes up while a message is written in the editor waits until the message is sent', () => {
    const { state, intents } = press(offered(withLine(asked(approval), 'hello'), 0), [ENTER])
    expect(intents).toEqual([{ do: 'send', text: 'hello' }])
    expect(offered(state, 0).panel?.item).toBe(approval)
  })

  it('is approved with arguments only if they are an object', () => {
    const typing: ChatState = {
      ...NEW,
      inbox: [approval],
      typing: { item: approval, answer: { decision: 'approve' }, prompt: 'arguments', field: 'args' },
    }
    const wrong = press(typing, [...keys('[1]'), ENTER])
    expect(wrong.intents).toEqual([])
    expect(wrong.state.hint).toContain('no JSON object')
    expect(press(typing, [...keys('{"a":1}'), ENTER]).intents).toMatchObject([
      { answer: { decision: 'approve', args: { a: 1 } } },
    ])
  })
})
