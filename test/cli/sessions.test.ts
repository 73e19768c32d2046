/** The commands for sessions, with a worker process. */
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { readTools } from '../../src/testing/chat-request.ts'
import { linesOf, start, stello, stelloJson } from './command.ts'
import { useServed } from './served.ts'

const served = useServed()
const run = (...args: string[]): ReturnType<typeof stello> => stello(args, { env: served.env })
const json = <T = Record<string, unknown>>(...args: string[]): Promise<T[]> => stelloJson<T>(args, { env: served.env })

const newSession = async (...options: string[]): Promise<string> =>
  (await json<{ sessionId: string }>('start', served.agent, ...options))[0]?.sessionId ?? ''
const terminate = (id: string): Promise<unknown> => served.client.temporal.workflow.getHandle(id).terminate()
const nonePaused = (): Promise<unknown> =>
  until('none is paused', async () => (await json('list', '--state', 'paused')).length === 0)

beforeAll(async () => {
  await served.startWorker()
})

describe('a conversation', () => {
  let id = ''

  it('begins with start --message --wait, which prints the answer', async () => {
    const [line, ...more] = await json('start', served.agent, '--label', 'trip', '--message', 'weather?', '--wait')
    expect(more).toEqual([])
    expect(line).toMatchObject({
      text: 'Take an umbrella.',
      stopReason: 'end_turn',
      rounds: 1,
      usage: { inputTokens: expect.any(Number) },
    })
    id = String(line?.['sessionId'])
  })

  it('goes on with send --wait; the same message id is answered once', async () => {
    const asked = served.model.requests.length
    for (const _ of [1, 2]) {
      expect(await json('send', id, 'hello', '--message-id', 'm1', '--wait')).toMatchObject([
        { sessionId: id, messageId: 'm1', text: 'You said: hello' },
      ])
    }
    expect(served.model.requests.length - asked).toBe(1)
  })

  it('prints only the answer on stdout for people', async () => {
    expect(await run('send', id, 'and now?', '--wait')).toMatchObject({ code: 0, stdout: 'You said: and now?\n' })
  })

  it('is listed, by agent and by state', async () => {
    expect(await json('list', '--agent', served.agent)).toMatchObject([{ id, label: 'trip', state: 'idle' }])
    expect(await json('list', '--agent', served.agent, '--state', 'paused')).toEqual([])
    expect(await json('list', '--agent', 'nobody')).toEqual([])
    expect((await run('list')).stdout).toMatch(new RegExp(`^${id}  idle +trip`, 'm'))
  })

  it('takes --json before the command as well as after it', async () => {
    const { code, stdout } = await run('--json', 'list')
    expect(code).toBe(0)
    expect(linesOf(stdout)).toMatchObject([{ id }])
  })

  it('has a transcript, a line per record, and each record by its number', async () => {
    const records = await json('transcript', id)
    expect(records.map((record) => record['role'])).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
    ])
    expect(await json('transcript', id, '--at', '3')).toMatchObject([
      { role: 'tool', name: 'weather', content: 'Rain in Oslo.' },
    ])
    const { stdout } = await run('transcript', id)
    expect(stdout).toContain(
      '[user] weather?\n[assistant] \n  → weather {"city":"Oslo"}\n[tool weather] Rain in Oslo.\n[assistant] Take an umbrella.\n',
    )
    expect(await run('transcript', id, '--at', '99')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no record 99'),
    })
  })

  it('has stats', async () => {
    const [stats] = await json('stats', id)
    expect(stats).toMatchObject({
      totals: { turns: 3, modelCalls: 4, toolCalls: 1 },
      tools: [{ toolName: 'weather', executionCount: 1 }],
    })
    expect((await run('stats', id)).stdout).toMatch(
      /3 turns, 4 model calls, 1 tool calls.*\nweather: 1 calls, 0 failed/,
    )
  })

  it('is forked; the child is in the tree, and close --cascade ends both', async () => {
    const child = `${id}-aside`
    const asked = ['fork', id, '--id', child, '--label', 'aside', '--context', 'inherit', '--profile', 'short']
    expect(await json(...asked)).toEqual([{ sessionId: child, parentId: id }])
    expect(await json(...asked)).toEqual([{ sessionId: child, parentId: id }])
    expect(await run(...asked, '--prompt', 'hello')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not this fork'),
    })
    expect(await json('send', child, 'me too', '--wait')).toMatchObject([{ text: 'You said: me too' }])
    expect(await json('transcript', child)).toHaveLength(10)
    expect(await json('tree', id)).toMatchObject([
      { id, children: [{ id: child, label: 'aside', profile: 'short', children: [] }] },
    ])
    expect((await run('tree', id)).stdout).toMatch(new RegExp(`^${id}.*\n└─ ${child}  idle +aside \\(short\\)\n$`))

    const [early] = await json('fork', id, '--label', 'without record 3', '--before', '3')
    const { sessionId } = early as { sessionId: string }
    expect(await json('send', sessionId, 'again', '--wait')).toMatchObject([{ text: 'You said: again' }])
    // Record 3 answers a call in record 2, so both are left out.
    expect(await json('transcript', sessionId)).toHaveLength(3)

    const watching = start(['watch', child, '--json'], { env: served.env })
    await json('close', id, '--cascade')
    const { code, stdout } = await watching.ended
    expect({ code, last: linesOf(stdout).at(-1) }).toMatchObject({ code: 0, last: { type: 'session.closed' } })
    expect(await run('send', id, 'still there?')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is closed\n.*fork/),
    })
  })
})

describe('watch', () => {
  it('prints every event as one JSON object, goes on after a cursor, and ends with 0 on Ctrl-C', async () => {
    const id = await newSession('--message', 'one', '--wait')
    const watching = start(['watch', id, '--json'], { env: served.env })
    await watching.printed('turn.completed')
    await run('send', id, 'two', '--wait')
    await watching.printed('You said: two')
    watching.kill('SIGINT')
    const { code, stdout, stderr } = await watching.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const events = linesOf(stdout)
    const durable = events.filter((event) => typeof event['offset'] === 'number')
    expect(durable.map((event) => event['offset'])).toEqual(durable.map((_, i) => i))

    const first = durable.findIndex((event) => event['type'] === 'turn.completed')
    const again = start(['watch', id, '--json', '--from', String(durable[first]?.['cursor'])], { env: served.env })
    expect(await again.line()).toMatchObject({ offset: first + 1 })
    again.kill('SIGINT')
    expect((await again.ended).code).toBe(0)
  })
})

describe('bounds', () => {
  it('of a tree are set when it starts, shown and changed', async () => {
    const id = await newSession('--max-depth', '2', '--max-sessions', '1')
    expect(await run('fork', id, '--label', 'one')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\(maxSessions: 1\).*stello bounds \S+ --max-sessions N/) as string,
    })
    const changed = { rootId: id, sessions: 1, bounds: { maxDepth: 2, maxSessions: 2 } }
    expect(await json('bounds', id, '--max-sessions', '2')).toMatchObject([changed])
    await json('fork', id, '--label', 'one')
    expect((await run('bounds', id)).stdout).toMatch(new RegExp(`^${id}: 2 sessions; .*maxDepth 2.*maxSessions 2`))
  })
})

describe('pause', () => {
  it('makes send --wait end with 1, the reason and the command that resumes; resume then answers the message', async () => {
    const id = await newSession()
    expect(await json('pause', id, '--reason', 'lunch')).toEqual([{ sessionId: id, sent: 'pause' }])
    const { code, stdout, stderr } = await run('send', id, 'hungry?', '--message-id', 'm', '--wait', '--json')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `stello: session ${id} is paused (user): lunch\n  \`stello resume ${id}\` goes on with the same turn\n`,
    )
    expect(await json('list', '--state', 'paused')).toMatchObject([{ id, pause: { reason: 'user', message: 'lunch' } }])
    await json('resume', id)
    await nonePaused()
    expect(await json('send', id, 'hungry?', '--message-id', 'm', '--wait')).toMatchObject([
      { text: 'You said: hungry?' },
    ])
  })

  it('for a refused key says so; resume tries the same step again', async () => {
    const id = await newSession()
    served.model.failNext({ status: 401 })
    const { code, stderr } = await run('send', id, 'hello', '--message-id', 'm', '--wait')
    expect(code).toBe(1)
    expect(stderr).toMatch(new RegExp(`is paused \\(model_error\\): .*\n.*OPENAI_API_KEY.*\`stello resume ${id}\``))
    await run('resume', id)
    await nonePaused()
    expect(await json('send', id, 'hello', '--message-id', 'm', '--wait')).toMatchObject([{ text: 'You said: hello' }])
  })
})

describe('a turn under way', () => {
  it('is stopped by cancel, and the command that waits for it says so', async () => {
    const id = await newSession()
    const asked = served.model.requests.length
    const { release } = served.model.hold()
    const waiting = start(['send', id, 'think', '--wait', '--json'], { env: served.env })
    await served.model.requested(asked + 1)
    await run('cancel', id)
    const { code, stdout, stderr } = await waiting.ended
    release()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '(cancelled)\n' })
    expect(linesOf(stdout)).toMatchObject([{ stopReason: 'cancelled' }])
  })

  it('goes on when the person who waits for it presses Ctrl-C', async () => {
    const id = await newSession()
    const asked = served.model.requests.length
    const { release } = served.model.hold()
    const waiting = start(['send', id, 'think', '--message-id', 'm', '--wait', '--json'], { env: served.env })
    await served.model.requested(asked + 1)
    waiting.kill('SIGINT')
    const { code, stdout, stderr } = await waiting.ended
    release()
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(`no longer waiting; the turn goes on, and \`stello transcript ${id}\` shows its answer\n`)
    expect(await json('send', id, 'think', '--message-id', 'm', '--wait')).toMatchObject([{ text: 'You said: think' }])
  })
})

describe('recover', () => {
  it('starts a session again whose workflow was terminated, and leaves other sessions alone', async () => {
    const [id, other] = [await newSession(), await newSession()]
    await json('send', id, 'hello', '--wait')
    await terminate(id)
    expect(await run('send', id, 'still there?')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`stello recover ${id}`),
    })
    const recovered = await json('recover', '--all')
    expect(recovered).toContainEqual({ sessionId: id, restarted: true, waiting: 0 })
    expect(recovered).toContainEqual({ sessionId: other, restarted: false, waiting: 0 })
    expect(await run('recover', other)).toMatchObject({ code: 0, stdout: `${other} runs, nothing was done\n` })
    expect(await json('send', id, 'still there?', '--wait')).toMatchObject([{ text: 'You said: still there?' }])
  })

  it('of all sessions goes on after one that cannot be recovered, names it, and ends with 1', async () => {
    const [broken, id] = [await newSession(), await newSession()]
    await Promise.all([broken, id].map(terminate))
    const setAgent = (agent: string) =>
      served.db.pool.query('update sessions set config = config || $2 where id = $1', [broken, { agent }])
    await setAgent('')
    const { code, stdout, stderr } = await run('recover', '--all', '--json')
    await setAgent(served.agent)
    await run('close', broken)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(broken) as string })
    expect(linesOf(stdout)).toContainEqual({ sessionId: id, restarted: true, waiting: 0 })
    expect(stdout).not.toContain(broken)
  })

  it('of all sessions skips one that is closed meanwhile', async () => {
    const [first, closed] = [await newSession(), await newSession()]
    await run('pause', first)
    await run('send', first, 'waits')
    await Promise.all([first, closed].map(terminate))
    const holder = await served.db.pool.connect()
    // A list does not read that table. A recover reads it to learn which store it is.
    await holder.query('begin; lock table store in access exclusive mode')
    const recovering = run('recover', '--all', '--json')
    await until('the first session is looked at', async () => {
      const { rows } = await served.db.pool.query(
        `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and wait_event_type = 'Lock' and query like '%from store%'`,
      )
      return rows.length > 0
    })
    await holder.query('update sessions set closed_at = now() where id = $1', [closed])
    await holder.query('commit')
    holder.release()
    const { code, stdout, stderr } = await recovering
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(linesOf(stdout)).toContainEqual({ sessionId: first, restarted: true, waiting: 1 })
    expect(stdout).not.toContain(closed)
  })
})

describe('an unknown session', () => {
  it.each([
    ['send', 's-nowhere', 'hello'],
    ['watch', 's-nowhere'],
    ['transcript', 's-nowhere'],
    ['stats', 's-nowhere'],
    ['pause', 's-nowhere'],
    ['fork', 's-nowhere', '--label', 'x'],
  ])('makes %s end with 1, naming it and stello list', async (...args) => {
    const { code, stdout, stderr } = await run(...args, '--json')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe('stello: there is no session "s-nowhere"\n  `stello list` shows all sessions\n')
  })
})

describe('start', () => {
  it('takes an id once, and only if it is a valid id', async () => {
    const id = `mine-${served.agent}`
    expect(await json('start', served.agent, '--id', id)).toEqual([{ sessionId: id }])
    expect(await run('start', served.agent, '--id', id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`session ${id} exists already`),
    })
    expect(await run('start', served.agent, '--id', 'a b')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"a b" is not allowed'),
    })
  })

  it('narrows the tools of the session', async () => {
    const offered = async (...options: string[]): Promise<unknown> => {
      const asked = served.model.requests.length
      await newSession('--message', 'hello', '--wait', ...options)
      const request = served.model.requests[asked]
      return request && readTools(request.body).map(({ name }) => name)
    }
    expect(await offered('--disallowed-tools', 'stello_create_session, pay')).toEqual(['weather'])
    expect(await offered('--allowed-tools', 'other')).toEqual(['stello_create_session'])
  })

  it('with an unknown profile names the profiles of the agent', async () => {
    const { code, stderr } = await run('start', served.agent, '--profile', 'long')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `stello: agent "${served.agent}" has no profile "long"\n  it has: short\n`,
    })
  })
})
