/** A chat on a real terminal. The tests read its screen as a person does. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { builtModule } from '../support/built.ts'
import { CTRL_C } from '../support/terminal.ts'
import { HOSTILE, useChats } from './chat-rig.ts'
import { stello, type Running } from './command.ts'

const rig = useChats()

let worker: Running

beforeAll(async () => {
  worker = await rig.work()
})

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

  it('is left by Ctrl-D, and shows all that was said when it is opened again by its id or from a list', async () => {
    const first = await rig.chat([rig.agent])
    first.press('remember this\r')
    await first.shows('You said: remember this')
    first.press('\u0004')
    const { code, output } = await first.ended
    expect(code).toBe(0)
    const [, id = ''] = /`stello chat (\S+)` comes back/.exec(output) ?? []
    const again = await rig.chat([id.slice(0, -3)])
    await again.shows(/❯ remember this\n\nYou said: remember this/)

    const picking = await rig.open(['--pick'])
    await picking.shows(/Which session\?[^]*idle/)
    picking.press('\r')
    await picking.shows(/❯ remember this\n\nYou said: remember this/)
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

describe('a tree', () => {
  it('shows a fork when it opens, and its state until it is closed', async () => {
    const chat = await rig.chat([rig.agent])
    chat.press('delegate\r')
    await chat.shows(/├─ below \(its answer is waited for\)/)
    await chat.shows(/└─ below-\S+ +running/)
    rig.half.open()
    await chat.shows('Read: First half, second half.')
    await chat.hides('└─ below-')
  })
})

it('goes on with another worker when one is killed, and shows the answer once', async () => {
  const chat = await rig.chat([rig.agent])
  chat.press('slowly\r')
  await chat.shows('First half,')
  worker.kill('SIGKILL')
  await worker.ended
  await chat.shows('no worker serves')
  worker = await rig.work()
  await chat.shows(/the model is asked again \(try \d\)/)
  rig.half.open()
  await chat.shows('First half, second half.')
  const lines = await chat.all()
  expect(lines.filter((line) => line.includes('First half'))).toHaveLength(1)
})

describe('the size of the terminal', () => {
  it.each([100, 40])('%i columns are enough: no line is cut, and none is drawn twice', async (columns) => {
    const chat = await rig.chat([rig.agent], { columns, rows: 30 })
    chat.press('report\r')
    await chat.shows('Oslo │   12')
    chat.press('remove it\r')
    await chat.shows('❯ 1. approve')
    const lines = await chat.all()
    expect(lines.filter((line) => line.includes('❯ report'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('1. approve'))).toHaveLength(1)
    expect(lines.filter((line) => line.startsWith('❯') && line.trim() === '❯')).toHaveLength(1)
  })

  it('may change: the screen is drawn again to fit the new size', async () => {
    const chat = await rig.chat([rig.agent], { columns: 100, rows: 30 })
    chat.press('remove it\r')
    await chat.shows('7. deny, and say why')
    chat.resize(40, 20)
    await chat.shows(/always allow remove\n +in this session/)
    await chat.choose('6')
    // The line that tells of the answer may have left the small screen before the test looks.
    await chat.shows(/did not\s+permit\s+"remove"/)
  })
})

it('takes a paste of 40 lines as one text, and Enter sends it', async () => {
  const chat = await rig.chat([rig.agent], { rows: 100 })
  const text = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\r')
  chat.press(`\u001b[200~${text}\u001b[201~`)
  await chat.shows(/… \d+ lines above\n[^]*line 39/)
  expect((await chat.seen()).join('\n')).not.toContain('You said')
  chat.press('\r')
  await chat.shows(/You said: line 0\nline 1\n[^]*line 39/)
})

describe('Ctrl-C', () => {
  it('cancels the turn that runs; pressed twice, it leaves, and the session goes on', async () => {
    const chat = await rig.chat([rig.agent])
    chat.press('slowly\r')
    await chat.shows('First half,')
    chat.press(CTRL_C)
    await chat.shows('the turn has ended: it was cancelled')
    chat.press('still there?\r')
    await chat.shows('You said: still there?')
    chat.press(CTRL_C)
    await chat.shows('Ctrl-C again leaves')
    // Only the clock tells the second of two presses from a new first one.
    const insisting = setInterval(() => chat.press(CTRL_C), 200)
    const { code, output } = await chat.ended.finally(() => clearInterval(insisting))
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
  for (const unsafe of ['\u009b', '\u202e', '\u0007']) expect(output).not.toContain(unsafe)
})

describe('without a terminal', () => {
  it('a message on stdin is sent, and its answer printed', async () => {
    const line = `echo "all well?" | '${process.execPath}' '${builtModule('src/cli/main.ts')}' chat ${rig.agent}`
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: { PATH: process.env['PATH'], ...rig.env } })
    expect(stdout).toBe('You said: all well?\n')
  })

  it('--json is refused with what programs use instead', async () => {
    const { code, stderr } = await stello(['chat', rig.agent, '--json'], { env: rig.env })
    expect(code).toBe(2)
    expect(stderr).toContain('stello watch SESSION --json')
  })
})
