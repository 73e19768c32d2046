/** A chat on a real terminal, read from its screen as a person sees it. */
import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { CTRL_C } from '../support/terminal.ts'
import { HOSTILE, useChats } from './chat-rig.ts'
import { stello } from './command.ts'

const rig = useChats()

beforeAll(() => rig.work())

describe('a conversation', () => {
  it('streams its answers, shows Markdown, and lets messages wait for their turn', async () => {
    const chat = await rig.chat([rig.agent])
    chat.press('report\r')
    await chat.shows('Oslo │   12')
    expect((await chat.seen()).join('\n')).toContain(
      'Some bold words, code, and a link (https://example.org/x).\n\n• one\n• two',
    )
    chat.press('slowly\r')
    await chat.shows('First half,')
    chat.press('and then\r')
    await chat.shows('⏳ waits: and then')
    rig.half.open()
    await chat.shows('You said: and then')
    await chat.hides('⏳')
    const lines = await chat.all()
    expect(lines.filter((line) => line.includes('First half, second half.'))).toHaveLength(1)
  })

  it('shows a call with its arguments and the beginning of its result; Ctrl-O shows the whole', async () => {
    const chat = await rig.chat([rig.agent])
    chat.press('weather\r')
    await chat.shows(/✓ weather Oslo\n +Rain in Oslo at 0\.[^]*… 6 more lines \(Ctrl-O or \/expand\)/)
    await chat.shows('Read: Rain')
    chat.press('\u000f')
    await chat.shows(/weather\nRain in Oslo at 0\.\n[^]*Rain in Oslo at 11\./)
  })

  it('is left by Ctrl-D and comes back by its id, with what was said', async () => {
    const first = await rig.chat([rig.agent])
    first.press('remember this\r')
    await first.shows('You said: remember this')
    first.press('\u0004')
    const { code, output } = await first.ended
    expect(code).toBe(0)
    const [, id = ''] = /`stello chat (\S+)` comes back/.exec(output) ?? []
    const again = await rig.chat([id.slice(0, -3)])
    await again.shows(/❯ remember this\n\nYou said: remember this/)
  })
})

describe('what waits for a person', () => {
  it('is approved with arguments that the person has changed', async () => {
    const chat = await rig.chat([rig.agent])
    chat.press('remove it\r')
    await chat.shows(/\? may "remove" run\?\n +path: a\.txt\n❯ 1\. approve/)
    await chat.choose('5')
    await chat.shows('"path": "a.txt"')
    chat.press('\u0015\u007f'.repeat(3) + '{"path":"b.txt"}')
    await chat.shows('arguments ❯ {"path":"b.txt"}')
    chat.press('\r')
    await chat.shows('Read: removed b.txt')
    await chat.shows('remove: approve, with arguments that a person has changed')
  })
})

describe('Ctrl-C', () => {
  it('cancels the turn that runs; twice, it leaves, and the session goes on', async () => {
    const chat = await rig.chat([rig.agent])
    chat.press('slowly\r')
    await chat.shows('First half,')
    chat.press(CTRL_C)
    await chat.shows('the turn has ended: it was cancelled')
    chat.press('still there?\r')
    await chat.shows('You said: still there?')
    chat.press(CTRL_C)
    await chat.shows('Ctrl-C again leaves')
    chat.press(CTRL_C)
    const { code, output } = await chat.ended
    expect(code).toBe(0)
    expect(output).toMatch(/the session goes on; `stello chat \S+` comes back to it/)
  })
})

it('ends when its window is closed', async () => {
  const chat = await rig.chat([rig.agent])
  const pid = chat.pid()
  chat.close()
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false)
})

it('never lets a control sequence of a model through', async () => {
  const chat = await rig.chat([rig.agent])
  chat.press('hostile\r')
  await chat.shows('danger <1b>]0;owned<07><9b>2J<202e>')
  chat.press('\u0004')
  const { output } = await chat.ended
  expect(output).not.toContain(HOSTILE.slice(0, 4))
  expect(output).not.toMatch(/[\u009b\u202e\u0007]/)
})

describe('without a terminal', () => {
  it('--json is refused with what programs use instead', async () => {
    const { code, stderr } = await stello(['chat', rig.agent, '--json'], { env: rig.env })
    expect(code).toBe(2)
    expect(stderr).toContain('stello watch SESSION --json')
  })
})
