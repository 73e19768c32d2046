/** What commands print, stream and draw again on a real pseudo-terminal, with a worker process. */
import { beforeAll, expect, it } from 'vitest'
import { builtModule } from '../support/built.ts'
import { openTerminal, type Terminal } from '../support/terminal.ts'
import { useServed } from './served.ts'

const served = useServed()
const on = (...args: string[]): Terminal =>
  openTerminal([process.execPath, builtModule('src/cli/main.ts'), ...args], {
    cwd: process.cwd(),
    env: { ...served.env, NO_COLOR: '1' },
  })
const shown = async (...args: string[]): Promise<string> => (await on(...args).ended).output

beforeAll(async () => {
  await served.startWorker()
  const session = await served.client.createSession({ agent: served.agent, sessionId: 'trip-1', label: 'trip' })
  await (await session.send('weather?')).result()
  await session.fork({ label: 'aside', sessionId: 'aside-1' })
})

it('list shows roots with the totals of their trees; --all and --tree show forks', async () => {
  const [roots, all, tree] = [await shown('list'), await shown('list', '--all'), await shown('list', '--tree', 'aside')]
  expect(roots).toMatch(/AGE {2}STATE +LABEL +AGENT +TOKENS +TREE +ID\r\n +\S+ {2}idle +trip +cli-\S+ +\d+ +2 +trip-1/)
  expect(roots).not.toContain('aside-1')
  expect(all).toMatch(/aside-1[^]*trip-1/)
  expect(tree).toContain('aside-1')
  expect(tree).not.toContain('trip-1')
})

it('transcript shows who said what, calls and results', async () => {
  expect(await shown('transcript', 'trip')).toContain(
    '\r\n› weather?\r\n\r\n⚒ weather {"city":"Oslo"}\r\n  ⎿ Rain in Oslo.\r\n\r\nTake an umbrella.\r\n',
  )
})

it('watch writes the answer once, while it is produced, and each call as one line', async () => {
  const watching = on('watch', 'trip')
  expect(await watching.printed('turn.completed')).toMatch(/✓ weather {"city":"Oslo"} .*\r\nTake an umbrella.\r\n/)
  await served.client.session('trip-1').send('hello')
  const output = await watching.printed('› hello\r\nYou said: hello\r\nturn.completed')
  expect(output.split('You said: hello')).toHaveLength(2)
  watching.press('\u0003')
  expect((await watching.ended).code).toBe(0)
})

it('tree --live draws the tree again in place, until the tree is closed', async () => {
  const live = on('tree', 'trip', '--live')
  await live.printed('└─ aside-1')
  await served.client.session('aside-1').fork({ label: 'below', sessionId: 'below-1' })
  expect(await live.printed('   └─ below-1')).toContain('\u001b[2A\r\u001b[J')
  await served.client.session('trip-1').close({ cascade: true })
  const { code, output } = await live.ended
  expect({ code, last: output.slice(output.lastIndexOf('trip-1')) }).toMatchObject({
    code: 0,
    last: expect.stringMatching(/^trip-1 {2}closed/),
  })
})
