/**
 * What commands say when something holds up an answer: nobody serves the agent, a provider is away, or a session below
 * is paused.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { HeldRequests } from '../../src/testing/index.ts'
import { until } from '../support/until.ts'
import { start, stello, stelloJson } from './command.ts'
import { useServed } from './served.ts'

const served = useServed({ TEST_SYSTEM_TOOLS: 'yes' })
const run = (...args: string[]): ReturnType<typeof stello> => stello(args, { env: served.env })
const json = <T = Record<string, unknown>>(...args: string[]): Promise<T[]> => stelloJson<T>(args, { env: served.env })

describe('an agent that no worker serves', () => {
  it('is named by start, --wait, send, list and stats; they refuse nothing that can wait', async () => {
    const warning = `no worker serves agent "${served.agent}"; no worker serves any agent now (none ever has: is the name right?)\n`
    const started = await run('start', served.agent, '--id', 'early', '--json')
    expect(started).toMatchObject({
      code: 0,
      stdout: '{"sessionId":"early"}\n',
      stderr: expect.stringContaining(warning) as string,
    })
    expect(await run('send', 'early', 'hello', '--message-id', 'm')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(warning) as string,
    })
    expect(await run('list')).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) as string })
    expect(await run('stats', 'early')).toMatchObject({
      code: 1,
      stderr: `stello: no worker serves agent "${served.agent}"; no worker serves any agent now\n  start one: \`stello worker FILE\`\n`,
    })

    const doctor = async () => (await run('doctor')).stdout.match(new RegExp(`^. Agent ${served.agent}: .*$`, 'm'))?.[0]
    expect(await doctor()).toMatch(/^✗ .* 1 open session, .*no worker serves any agent now$/)

    const waiting = start(['send', 'early', 'hello', '--message-id', 'm', '--wait'], { env: served.env })
    await waiting.printed(warning)
    // Otherwise the answer may come before the command looks for workers again.
    const answering = served.model.hold()
    await served.startWorker()
    await waiting.printed(`a worker serves agent "${served.agent}" now`)
    answering.release()
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'You said: hello\n' })
    expect(await doctor()).toMatch(/^✓ .* served by /)
  })

  it('is listed beside the agents that are served, so that a misspelt name is seen', async () => {
    const { code, stderr } = await run('start', `${served.agent}x`, '--message', 'hello')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        new RegExp(`no worker serves agent "${served.agent}x"; served now: ${served.agent} \\(none ever has`),
      ) as string,
    })
    expect((await run('list', '--agent', 'nobody')).stderr).toContain(
      `no worker serves agent "nobody"; served now: ${served.agent}`,
    )
    expect((await run('list', '--agent', served.agent)).stderr).toBe('')
  })
})

describe('a pause below', () => {
  let [id, child] = ['', '']
  let held: HeldRequests | undefined

  beforeAll(async () => {
    const [started] = await json('start', served.agent)
    id = String(started?.['sessionId'])
  })

  it('ends send --wait with the session, the reason, and the command that helps', async () => {
    held = served.model.hold(({ body }) => JSON.stringify(body).includes('"deep"'))
    const waiting = start(['send', id, 'delegate', '--message-id', 'm', '--wait'], { env: served.env })
    await held.reached
    const [tree] = await json<{ children: { id: string }[] }>('tree', id)
    child = tree?.children[0]?.id ?? ''
    await run('pause', child, '--reason', 'look first')
    const paused = `session ${id} waits for session ${child}, which is paused (user): look first`
    expect(await waiting.ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `stello: ${paused}\n  \`stello resume ${child}\` goes on with the same turn\n`,
    })
  })

  it('is shown in list, tree and inbox, with the command that helps', async () => {
    expect((await run('list')).stdout).toMatch(
      new RegExp(`^${id}  waiting .* held up by ${child} paused \\(user\\)$`, 'm'),
    )
    expect((await run('tree', id)).stdout).toMatch(new RegExp(`^${id}.*held up by ${child}.*\n└─ ${child}  paused`))
    expect(await json('inbox', id)).toMatchObject([{ kind: 'paused', sessionId: child, reason: 'user' }])
    expect((await run('inbox')).stdout).toMatch(
      new RegExp(`^\\? ${child} is paused .*\n    stello resume ${child}\n`, 'm'),
    )
  })

  it('is reported by resume of the session above, which resumes nothing below', async () => {
    const { code, stderr } = await run('resume', id)
    expect(code).toBe(0)
    expect(stderr).toContain(`${id} waits for ${child}\n? ${child} is paused`)
    expect(stderr).toContain(`\`stello resume ${id} --tree\` resumes all below it`)
  })

  it('is ended by resume --tree, which says how many sessions it reached', async () => {
    expect((await run('resume', id, '--tree')).stdout).toBe(`resume sent to 2 sessions in the tree of ${id}\n`)
    held?.release()
    await until('none is paused', async () => (await json('list', '--state', 'paused')).length === 0)
    expect(await json('send', id, 'delegate', '--message-id', 'm', '--wait')).toMatchObject([
      { stopReason: 'end_turn' },
    ])
    expect(await json('inbox', id)).toEqual([])
  })

  it('pause and cancel take --tree too', async () => {
    const told = { sessionId: id, sessions: 1, lost: [] }
    expect(await json('pause', id, '--tree', '--reason', 'lunch')).toEqual([{ ...told, sent: 'pause' }])
    await until('it is paused', async () => (await json('list', '--state', 'paused')).length > 0)
    expect(await json('cancel', id, '--tree')).toEqual([{ ...told, sent: 'cancel' }])
  })
})

it('a provider that is away is named to the person who waits, and the answer still comes', async () => {
  const [line] = await json<{ sessionId: string }>('start', served.agent)
  served.model.failNext({ status: 429, headers: { 'retry-after': '5' } })
  const { code, stdout, stderr } = await run('send', line?.sessionId ?? '', 'hello', '--wait')
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('You said: hello') as string })
  expect(stderr).toMatch(/waits for \S+: 429, next try \S+; it goes on by itself/)
})
