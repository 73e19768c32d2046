/**
 * What waits for a person, on the command line. A worker is killed in the middle of a tool whose unknown outcome a
 * person decides.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { start, stello, stelloJson } from './command.ts'
import { useServed } from './served.ts'

const served = useServed()
const run = (...args: string[]): ReturnType<typeof stello> => stello(args, { env: served.env })
const json = <T = Record<string, unknown>>(...args: string[]): Promise<T[]> => stelloJson<T>(args, { env: served.env })

let id = ''
let item = ''

beforeAll(async () => {
  const first = await served.startWorker()
  const [session] = await json<{ sessionId: string }>('start', served.agent, '--label', 'bills')
  id = session?.sessionId ?? ''
  const watching = start(['watch', id, '--json'], { env: served.env })
  await run('send', id, 'pay the bill', '--message-id', 'bill')
  await watching.printed('"DOING"')
  first.kill('SIGKILL')
  await first.ended
  await served.startWorker()
  await watching.printed('"pending.opened"')
  watching.kill('SIGINT')
  await watching.ended
})

describe('inbox', () => {
  it('shows what waits, in all sessions and in one tree', async () => {
    const [shown, ...more] = await json<{ id: string }>('inbox')
    expect(more).toEqual([])
    expect(shown).toMatchObject({ sessionId: id, label: 'bills', kind: 'unknown_outcome', name: 'pay' })
    item = shown?.id ?? ''
    expect(await json('inbox', id)).toEqual([shown])
    const [other] = await json<{ sessionId: string }>('start', served.agent)
    expect(await json('inbox', other?.sessionId ?? '')).toEqual([])
  })

  it('tells people the question and the command that answers it', async () => {
    const { stdout } = await run('inbox')
    expect(stdout).toMatch(/^\? "pay" was begun, and nobody knows how it ended: did it take effect\? \(bills, /)
    expect(stdout).toContain('    pay {"amount":3}\n')
    expect(stdout).toContain(`    stello answer ${id} ${item} done|not_done|retry\n`)
  })

  it('says so when the session does not exist', async () => {
    expect(await run('inbox', 's-nowhere')).toMatchObject({
      code: 1,
      stderr: 'stello: there is no session "s-nowhere"\n  `stello list` shows all sessions\n',
    })
  })
})

describe('what waits', () => {
  it('is shown in tree, list and watch', async () => {
    expect((await run('tree', id)).stdout).toBe(`${id}  waiting bills  ? pay (${item})\n`)
    expect(await json('list', '--state', 'waiting')).toMatchObject([{ id, pending: [{ id: item }] }])
    const watching = start(['watch', id], { env: served.env })
    const text = await watching.printed('pending.opened')
    watching.kill('SIGINT')
    await watching.ended
    expect(text).toMatch(new RegExp(`pending\\.opened +"pay" was begun.* ${item}`))
  })
})

describe('answer', () => {
  it.each([
    ['an unknown decision', [() => id, () => item, () => 'yes'], 2, /Allowed choices are done, not_done, retry/],
    ['a missing decision', [() => id, () => item], 2, /missing required argument 'decision'/],
    ['an unknown item', [() => id, () => 't9.9.9@0.1', () => 'done'], 1, /"t9\.9\.9@0\.1" waits.*\n.*`stello inbox`/],
    [
      'a text that a retry takes none of',
      [() => id, () => item, () => 'retry', () => 'x'],
      1,
      /a text goes with done, .+, not with retry/,
    ],
    ['an unknown session', [() => 's-nowhere', () => item, () => 'done'], 1, /there is no session "s-nowhere"/],
  ])('with %s changes nothing', async (_what, args, code, stderr) => {
    const ended = await run('answer', ...args.map((arg) => arg()))
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toMatch(stderr)
    expect(await json('inbox', id)).toHaveLength(1)
  })

  it('is asked for by a command that waits for the turn', async () => {
    const waiting = start(['send', id, 'pay the bill', '--message-id', 'bill', '--wait'], { env: served.env })
    expect(await waiting.printed(`stello answer ${id} ${item} done|not_done|retry`)).toContain('waits for a person')
    waiting.kill('SIGINT')
    expect(await waiting.ended).toMatchObject({ code: 1, stdout: '' })
  })

  it('decides: the model reads the result, and nothing waits any more', async () => {
    expect(await json('answer', id, item, 'done', 'paid as 17')).toEqual([
      { sessionId: id, id: item, decision: 'done' },
    ])
    expect(await json('send', id, 'pay the bill', '--message-id', 'bill', '--wait')).toMatchObject([
      { text: 'You said: paid as 17' },
    ])
    expect(await json('inbox')).toEqual([])
    expect(await run('answer', id, item, 'retry')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('waits for an answer'),
    })
  })
})
