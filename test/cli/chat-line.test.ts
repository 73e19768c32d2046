/** What a person types in a chat on a real terminal: files, an editor, long and wide texts, slash commands. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { useChats } from './chat-rig.ts'
import { newFolder } from './command.ts'

const rig = useChats()
const END = '\u0004'
const DOWN = '\u001b[B'

beforeAll(() => rig.work())

describe('files', () => {
  it('of which Tab completes the path go along with the message', async () => {
    const cwd = await newFolder()
    await writeFile(join(cwd, 'plan.md'), 'plant beans')
    await writeFile(join(cwd, 'plan b.md'), 'plant peas')
    const chat = await rig.chat([rig.agent], { cwd, columns: 80, rows: 24 })
    chat.press('look at @pl\t')
    await chat.shows('❯ look at @plan')
    await chat.shows('plan b.md  plan.md')
    chat.press('.\t')
    await chat.shows('❯ look at @plan.md')
    chat.press('and @"plan b\t')
    await chat.shows('❯ look at @plan.md and @"plan b.md"')
    chat.press('\r')
    await chat.shows(/You said: look at[^]*plan\.md:[^]*plant beans[^]*plan b\.md:[^]*plant peas/)
  })
})

describe('the own editor', () => {
  it('takes the line by Ctrl-G, and gives back what was saved, which Enter sends', async () => {
    const cwd = await newFolder()
    await writeFile(join(cwd, 'editor.sh'), 'printf "\\nsecond\\nthird\\n" >> "$1"')
    const chat = await rig.chat([rig.agent], { cwd, env: { VISUAL: `sh ${join(cwd, 'editor.sh')}` } })
    chat.press('first\u0007')
    await chat.shows(/❯ first\n {2}second\n {2}third/)
    chat.press('\r')
    await chat.shows(/You said: first\nsecond\nthird/)
  })

  it('that fails, or that nobody has named, leaves the line as it is', async () => {
    const chat = await rig.chat([rig.agent], { env: { EDITOR: 'false' } })
    chat.press('kept\u0007')
    await chat.shows('the editor has failed: false')
    await chat.shows('❯ kept')
    const other = await rig.chat([rig.agent])
    other.press('kept\u0007')
    await other.shows('set VISUAL or EDITOR')
  })
})

it('an answer of 300 lines stands there whole, each line once', async () => {
  const chat = await rig.chat([rig.agent], { columns: 80, rows: 24 })
  chat.press('count\r')
  await chat.shows('number 299.')
  chat.press('done\r')
  await chat.shows('You said: done')
  const all = await chat.all()
  expect(all.filter((line) => line.startsWith('• number'))).toEqual(
    Array.from({ length: 300 }, (_, at) => `• number ${at}.`),
  )
})

it('a line of a million characters is shown to its end, typed and answered', async () => {
  const chat = await rig.chat([rig.agent], { columns: 80, rows: 24 })
  chat.press('flood\r')
  await chat.shows(/!\n/)
  chat.press(`\u001b[200~${'x'.repeat(100_000)}!\u001b[201~`)
  await chat.shows(/… more above[^]*x!/)
})

it.each([
  [80, {}],
  [40, { NO_COLOR: '1' }],
])('wide letters stand in columns of a terminal with %i, with the environment %j', async (columns, env) => {
  const chat = await rig.chat([rig.agent], { columns, rows: 24, env })
  chat.press('wide\r')
  await chat.shows(/東京 +│ 12\nZürich 👩‍👩‍👧 │ {2}3/)
  chat.press('漢字😀'.repeat(15))
  await chat.shows('漢字😀')
  chat.press(`${'\u007f'.repeat(44)}!`)
  await chat.shows(/❯ 漢!\n/)
  chat.press('\u0015')
  chat.press(END)
  const { output } = await chat.ended
  if ('NO_COLOR' in env) expect(output).not.toMatch(new RegExp(`${'\u001b'}\\[\\d+m`))
})

describe('slash commands', () => {
  it('fork a session, go there and back, and show what they promise', async () => {
    const chat = await rig.chat([rig.agent], { columns: 80, rows: 24 })
    chat.press('/model\r')
    await chat.shows('no model has answered yet')
    chat.press('/cancel\r')
    await chat.shows('no turn runs')
    chat.press('hello\r')
    await chat.shows('You said: hello')
    // The text streams before the turn has ended.
    await chat.shows(/ · fake · \d+ in, \d+ out/)
    chat.press('/model\r')
    await chat.shows('fake answers')
    chat.press('/usage\r')
    await chat.shows(/1 turn, 1 model call, 0 tool calls, \d+ tokens? in, \d+ out/)
    chat.press('/open\r')
    await chat.shows('Temporal UI')
    chat.press('/fork the side\r')
    await chat.shows(/forked the-side-\S+; \/switch goes there/)
    chat.press('/tree\r')
    await chat.shows(/· \S+ +idle[^]*└─ the-side-/)
    chat.press('/switch\r')
    await chat.shows(/which session\?\n❯ 1\. \S+ \(this one\)[^]*2\. +the side/)
    await chat.choose('2')
    await chat.shows(/── the-side-\S+ ──\n[^]*user │ hello/)
    chat.press('in the fork\r')
    await chat.shows('You said: in the fork')
    chat.press('/transcript\r')
    await chat.shows(/user │ hello\n\nassistant │ You said: hello\n\nuser │ in the fork/)
    chat.press('/switch\r')
    await chat.choose('1')
    await chat.shows(/❯ hello\n\nYou said: hello/)
  })

  it('show what a fork has inherited as soon as a worker opens it', async () => {
    const agent = 'chat-late'
    const first = await rig.work(agent)
    const session = await rig.client.createSession({ agent })
    await (await session.send('hello')).result()
    first.kill('SIGTERM')
    await first.ended
    const fork = await session.fork({ label: 'late', context: 'inherit' })
    const chat = await rig.chat([fork.id], { columns: 80, rows: 24 })
    await chat.shows('no worker serves')
    const second = await rig.work(agent)
    await chat.shows(/user │ hello/)
    chat.press('now\r')
    await chat.shows(/user │ hello[^]*❯ now\n\nYou said: now/)
    second.kill('SIGTERM')
    await second.ended
  })

  it('pause and resume the session', async () => {
    const chat = await rig.chat([rig.agent], { columns: 80, rows: 24 })
    chat.press('/pause\r')
    await chat.shows('paused: /resume goes on')
    chat.press('waits\r')
    await chat.shows('⏳ waits: waits')
    chat.press('/resume\r')
    await chat.shows('You said: waits')
    await chat.hides('paused: /resume goes on')
  })
})

describe('of several agents that are served', () => {
  it('one is chosen before the chat begins', async () => {
    const other = await rig.work('chat-other')
    const chat = await rig.open([])
    await chat.shows('●')
    const [first] = (await chat.seen()).filter((line) => line.includes('●'))
    if (!first?.includes('chat-other')) chat.press(DOWN)
    await chat.shows(/● chat-other/)
    chat.press('\r')
    await chat.shows('❯')
    chat.press('hello\r')
    await chat.shows('You said: hello')
    await chat.shows(/chat-other · fake/)
    other.kill('SIGTERM')
    await other.ended
  })
})

describe('a chat that is left', () => {
  it('shows what it could not send', async () => {
    const proxy = await startTcpProxy(rig.env['TEMPORAL_ADDRESS'] ?? '')
    const chat = await rig.chat([rig.agent], { env: { TEMPORAL_ADDRESS: proxy.address } })
    proxy.refuse(true)
    proxy.cut()
    chat.press('two words\r')
    await chat.shows('the message is sent as soon as the servers are back')
    chat.press(END)
    const { code, output } = await chat.ended
    expect(code).toBe(0)
    expect(output.slice(output.lastIndexOf('not sent to'))).toMatch(
      /^not sent to \S+: the servers are away\r\ntwo words\r\n/,
    )
    await proxy.close()
  })

  it('has sent what was typed just before', async () => {
    const chat = await rig.chat([rig.agent])
    chat.press('last words\r\u0004')
    const { output } = await chat.ended
    const [, id = ''] = /`stello chat (\S+)` comes back/.exec(output) ?? []
    expect(output).not.toContain('not sent to')
    const said = async (): Promise<string[]> =>
      (await rig.client.session(id).transcript()).map(({ content }) => content)
    await expect.poll(said).toContain('last words')
  })
})
