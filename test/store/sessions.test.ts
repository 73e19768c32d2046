/** Sessions as rows, what the workflow tells the store about them, and how watchers hear of it. */
import { describe, expect, it } from 'vitest'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { nextOffsets } from '../../src/store/watching/event-log.ts'
import { createListener } from '../../src/store/database/listener.ts'
import { getMessage, putMessage } from '../../src/store/transcript/message-bodies.ts'
import { createNotifier, type News } from '../../src/store/database/notifier.ts'
import { readOwnRecords } from '../../src/store/transcript/records.ts'
import { releaseStep, settleStep } from '../../src/store/ledger/settle.ts'
import { findChild, readSession } from '../../src/store/sessions/session-row.ts'
import { readAgents, saveAgent } from '../../src/store/sessions/served-agents.ts'
import { configureSession, createSession, listSessions } from '../../src/store/sessions/sessions.ts'
import { readTurn } from '../../src/store/transcript/turns.ts'
import { someEvent, claim, newSessionRow, openSession, opening, overtaken, take, userRecord } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { readEvents } from '../support/events.ts'
import { openChildren } from '../../src/store/sessions/closing.ts'

const at = useDatabase()
const PAUSE = { reason: 'user', message: 'paused by request' } as const

const stateOf = async (sessionId: string): Promise<string | undefined> =>
  (await listSessions(at.db, { ids: [sessionId] }))[0]?.state

describe('createSession', () => {
  it('may be repeated by the one that asked for the session, and by nobody else', async () => {
    const session = newSessionRow({ origin: 'call-1' })
    await createSession(at.db, session)
    const otherwise = { ...session, config: { ...session.config, searchable: true } }
    expect(await createSession(at.db, otherwise)).toEqual(session.config)
    await expect(createSession(at.db, { ...session, origin: 'call-2' })).rejects.toMatchObject({
      code: 'SESSION_EXISTS',
    })
    const anonymous = newSessionRow()
    await createSession(at.db, anonymous)
    await expect(createSession(at.db, anonymous)).rejects.toMatchObject({ code: 'SESSION_EXISTS' })
  })

  it('is found again by the one that asked for it, whatever its id', async () => {
    const { sessionId: parentId } = await openSession(at.db)
    const child = newSessionRow({ parentId, depth: 1, origin: 'agent/call-1' })
    expect(await findChild(at.db, parentId, 'agent/call-1')).toBeUndefined()
    await createSession(at.db, child)
    expect(await findChild(at.db, parentId, 'agent/call-1')).toBe(child.sessionId)
    expect(await findChild(at.db, parentId, 'agent/call-2')).toBeUndefined()
    expect(await findChild(at.db, child.sessionId, 'agent/call-1')).toBeUndefined()
  })

  it('stores a label of NUL and half an emoji', async () => {
    const session = newSessionRow()
    await createSession(at.db, { ...session, config: { ...session.config, label: 'a\0\uD83D' } })
    expect((await readSession(at.db, session.sessionId))?.config.label).toBe('a\uFFFD\uFFFD')
  })
})

describe('configureSession', () => {
  it('fixes the configuration once', async () => {
    const session = newSessionRow()
    await createSession(at.db, session)
    const limits = { maxToolRounds: 1, toolTimeoutMs: 1, timeoutsBeforePause: 1 }
    await configureSession(at.db, {
      sessionId: session.sessionId,
      config: { ...session.config, systemPrompt: 'first', limits },
    })
    await configureSession(at.db, {
      sessionId: session.sessionId,
      config: { ...session.config, systemPrompt: 'second', limits },
    })
    expect((await readSession(at.db, session.sessionId))?.config.systemPrompt).toBe('first')
  })
})

describe('listSessions', () => {
  it('derives the state of a session from its rows', async () => {
    const run = await openSession(at.db)
    const { sessionId } = run
    expect(await stateOf(sessionId)).toBe('idle')
    const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
    expect(await stateOf(sessionId)).toBe('running')
    await settleStep(at.db, step, {
      outcome: {},
      writes: { records: [userRecord(2)], waiting: { key: 't1.0.0', name: 'new_task' } },
    })
    expect(await stateOf(sessionId)).toBe('waiting')
    await announceFacts(at.db, run, { key: 'a1', writes: { pause: PAUSE } })
    expect(await stateOf(sessionId)).toBe('paused')
    await announceFacts(at.db, run, {
      key: 'a2',
      writes: { pause: null, turns: [{ turn: 1, stopReason: 'cancelled', rounds: 0 }] },
    })
    expect(await stateOf(sessionId)).toBe('idle')
    await announceFacts(at.db, run, { key: 'a3', writes: { closed: true } })
    expect(await stateOf(sessionId)).toBe('closed')
  })

  it('shows the model or tool in hand until it has ended', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { opening: opening(1, 'a', 1), name: 'gpt-5' })
    const shown = async () => (await listSessions(at.db, { ids: [run.sessionId] }))[0]?.inHand.map(({ name }) => name)
    expect(await shown()).toEqual(['gpt-5'])
    await releaseStep(at.db, step, { failed: true })
    expect([await stateOf(run.sessionId), await shown()]).toEqual(['running', []])
    const again = await take(at.db, run)
    expect(await shown()).toEqual(['gpt-5'])
    await releaseStep(at.db, again, { failed: false, reset: true })
    await announceFacts(at.db, run, { key: 'a1', writes: { pause: PAUSE } })
    expect([await stateOf(run.sessionId), await shown()]).toEqual(['paused', []])
    await announceFacts(at.db, run, { key: 'a2', writes: { pause: null } })
    await settleStep(at.db, await take(at.db, run), { outcome: {}, writes: {} })
    expect(await shown()).toEqual([])
  })

  it('filters by tree, agent and state, newest first', async () => {
    const root = newSessionRow({ config: { agent: 'lister', label: 'root', model: 'agent', tools: 'agent' } })
    await createSession(at.db, root)
    const child = newSessionRow({ rootId: root.sessionId, parentId: root.sessionId, depth: 1, config: root.config })
    await createSession(at.db, child)
    await at.db.pool.query('update sessions set closed_at = now() where id = $1', [child.sessionId])
    const ids = async (filter: Parameters<typeof listSessions>[1]) =>
      (await listSessions(at.db, filter)).map(({ id }) => id)
    expect(await ids({ rootId: root.sessionId })).toEqual([child.sessionId, root.sessionId])
    expect(await ids({ agent: 'lister', state: 'closed' })).toEqual([child.sessionId])
    expect(await ids({ agent: 'lister', limit: 1 })).toEqual([child.sessionId])
  })
})

describe('announceFacts', () => {
  it('changes nothing when it is repeated', async () => {
    const run = await openSession(at.db)
    const tell = () =>
      announceFacts(at.db, run, {
        key: 'a1',
        writes: {
          pause: PAUSE,
          events: [someEvent({ key: 'a1.0', at: { told: 1 }, type: 'session.paused' })],
        },
      })
    await tell()
    await tell()
    expect((await readEvents(at.db, run.sessionId, 0)).map(({ offset, type }) => [offset, type])).toEqual([
      [0, 'session.paused'],
    ])
    expect(await nextOffsets(at.db, [run.sessionId])).toEqual(new Map([[run.sessionId, 1]]))
    expect(await claim(at.db, run)).toEqual({ kind: 'paused' })
  })

  it('opens and ends a turn that never was opened, with its record', async () => {
    const run = await openSession(at.db)
    const writes = {
      records: [userRecord(1, 'never answered')],
      turns: [{ turn: 1, messageId: 'a', startSeq: 1, stopReason: 'cancelled', text: '', rounds: 0 } as const],
    }
    await announceFacts(at.db, run, { key: 'a1', writes })
    await announceFacts(at.db, run, { key: 'a1', writes })
    expect(await readTurn(at.db, { sessionId: run.sessionId, gen: 0 }, 'a')).toMatchObject({
      status: 'ended',
      stopReason: 'cancelled',
    })
    expect(await readOwnRecords(at.db, { sessionId: run.sessionId, gen: 0, seq: 1 })).toHaveLength(1)
  })

  it('leaves the end of a turn as it was first', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
    await settleStep(at.db, step, {
      outcome: {},
      writes: { turns: [{ turn: 1, stopReason: 'end_turn', text: 'done', rounds: 0 }] },
    })
    await announceFacts(at.db, run, {
      key: 'a1',
      writes: {
        turns: [{ turn: 1, messageId: 'a', startSeq: 1, stopReason: 'cancelled', rounds: 0 }],
      },
    })
    expect(await readTurn(at.db, { sessionId: run.sessionId, gen: 0 }, 'a')).toMatchObject({
      stopReason: 'end_turn',
      text: 'done',
    })
  })

  it('keeps the moment of the first close', async () => {
    const run = await openSession(at.db)
    await announceFacts(at.db, run, { key: 'a1', writes: { closed: true } })
    const first = (await readSession(at.db, run.sessionId))?.closedAt
    await announceFacts(at.db, run, { key: 'a2', writes: { closed: true } })
    expect(first).toBeInstanceOf(Date)
    expect((await readSession(at.db, run.sessionId))?.closedAt).toEqual(first)
  })

  it('pauses and resumes once: a late attempt changes nothing after others have told more', async () => {
    const run = await openSession(at.db)
    const pausing = { pause: PAUSE, events: [someEvent({ key: 'a1.0', at: { told: 1 }, type: 'session.paused' })] }
    const resuming = { pause: null, events: [someEvent({ key: 'a2.0', at: { told: 1 }, type: 'session.resumed' })] }
    const pausingAgain = { pause: PAUSE, events: [someEvent({ key: 'a3.0', at: { told: 1 }, type: 'session.paused' })] }
    await announceFacts(at.db, run, { key: 'a1', writes: pausing })
    await announceFacts(at.db, run, { key: 'a2', writes: resuming })
    await announceFacts(at.db, run, { key: 'a1', writes: pausing })
    expect(await stateOf(run.sessionId)).toBe('idle')
    await announceFacts(at.db, run, { key: 'a3', writes: pausingAgain })
    await announceFacts(at.db, run, { key: 'a2', writes: resuming })
    expect(await stateOf(run.sessionId)).toBe('paused')
    const events = await readEvents(at.db, run.sessionId, 0)
    expect(events.map(({ type }) => type)).toEqual(['session.paused', 'session.resumed', 'session.paused'])
  })

  it('changes nothing for a run that another run takes over from at this very moment', async () => {
    const run = await openSession(at.db)
    await overtaken(at.db, run, () => announceFacts(at.db, run, { key: 'a1', writes: { closed: true } }))
    expect((await readSession(at.db, run.sessionId))?.closedAt).toBeUndefined()
  })

  it('changes nothing for a run that another run has taken over from, and is not told again', async () => {
    const run = await openSession(at.db)
    await announceFacts(at.db, { ...run, runId: 'run-2', prevRunId: 'run-1' }, { key: 'a1', writes: {} })
    expect(await announceFacts(at.db, run, { key: 'a2', writes: { closed: true } })).toEqual({ gen: 0, closing: false })
    expect((await readSession(at.db, run.sessionId))?.closedAt).toBeUndefined()
  })

  it('is followed by a cascade over the children that are still open', async () => {
    const run = await openSession(at.db)
    const children = Array.from({ length: 6 }, () => newSessionRow({ parentId: run.sessionId, depth: 1 }))
    for (const child of children) await createSession(at.db, child)
    const [closed = '', ...open] = children.map(({ sessionId }) => sessionId).toSorted()
    await at.db.pool.query('update sessions set closed_at = now() where id = $1', [closed])
    const first = await openChildren(at.db, run.sessionId, { limit: 3 })
    const rest = await openChildren(at.db, run.sessionId, { after: first.at(-1), limit: 3 })
    expect([first, rest]).toEqual([open.slice(0, 3), open.slice(3)])
  })

  it('is followed by a cascade over open sessions below, also below sessions that closed before', async () => {
    const child = async (parentId: string): Promise<string> => {
      const session = newSessionRow({ parentId, depth: 1 })
      await createSession(at.db, session)
      return session.sessionId
    }
    const change = (sql: string, id: string) => at.db.pool.query(sql, [id])
    const { sessionId } = await openSession(at.db)
    const [ended, open, left] = [await child(sessionId), await child(sessionId), await child(sessionId)]
    const behind = await child(await child(ended))
    // The cascade can reach these only through the open one.
    await child(open)
    await child(left)
    await change('update sessions set closed_at = now() where parent_id = $1 or id = $1', ended)
    await change(`update events set abandoned = true where data->>'child' = $1`, left)
    expect((await openChildren(at.db, sessionId)).toSorted()).toEqual([behind, open].toSorted())
  })
})

describe('messages', () => {
  it('keep one text for an id', async () => {
    const { sessionId } = await openSession(at.db)
    await putMessage(at.db, sessionId, { messageId: 'a', text: 'text\0' })
    await putMessage(at.db, sessionId, { messageId: 'a', text: 'text\0' })
    expect(await getMessage(at.db, sessionId, 'a')).toBe('text\uFFFD')
    await expect(putMessage(at.db, sessionId, { messageId: 'a', text: 'other' })).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
    })
    expect(await getMessage(at.db, sessionId, 'b')).toBeUndefined()
  })
})

describe('agents', () => {
  it('are remembered with what their worker has served last', async () => {
    await saveAgent(at.db, 'served', { profiles: [], tools: ['a'], skills: [] })
    await saveAgent(at.db, 'served', { profiles: ['p'], tools: ['a', 'b'], skills: [] })
    const found = (await readAgents(at.db)).filter(({ name }) => name === 'served')
    expect(found).toEqual([{ name: 'served', manifest: { profiles: ['p'], tools: ['a', 'b'], skills: [] } }])
  })
})

describe('listener', () => {
  it('hears news of its session, also after its connection was cut, and of everything else once per connection', async () => {
    const [listener, notifier] = [createListener(at.url), createNotifier(at.db)]
    const heard: News[] = []
    const others: News[] = []
    listener.subscribe(
      (id) => id === 's-mine',
      (news) => heard.push(news),
    )
    listener.subscribe(
      (id) => id === 's-other',
      (news) => others.push(news),
    )
    const hears = (): Promise<void> =>
      expect
        .poll(() => (notifier.notify('s-mine', 'progress'), heard.splice(0)), { timeout: 5000 })
        .toContain('progress')
    await hears()
    await at.db.pool.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where application_name = 'stello-listener' and datname = current_database()`,
    )
    heard.length = 0
    await hears()
    expect(others).toEqual(['decision', 'decision'])
    await notifier.close()
    await listener.close()
  })

  it('hears of a decision even where progress is told with it', async () => {
    const [listener, notifier] = [createListener(at.url), createNotifier(at.db)]
    const heard: News[] = []
    listener.subscribe(
      (id) => id === 's-deciding',
      (news) => heard.push(news),
    )
    const told = (news: News[]): Promise<void> => expect.poll(() => heard.splice(0), { timeout: 5000 }).toEqual(news)
    await told(['decision']) // It is connected.
    notifier.notify('s-deciding', 'progress')
    await told(['progress'])
    // The first goes out alone, the others go out together.
    notifier.notify('s-elsewhere')
    notifier.notify('s-deciding', 'progress')
    notifier.notify('s-deciding')
    notifier.notify('s-deciding', 'progress')
    await told(['decision'])
    await notifier.close()
    await listener.close()
  })
})
