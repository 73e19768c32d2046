/**
 * The tables of events in docs/architecture.md agree with the types: each event, each field, and which fields may be
 * missing.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { DurableEvents, LiveEvents, Streamed } from '../../src/protocol/events.ts'

/** For each field, whether it may be missing. If this differs from the types, it does not compile. */
type Fields<Data> = { [Field in keyof Data]-?: object extends Pick<Data, Field> ? '?' : '' }
type Table<Events> = { [Type in keyof Events]: Fields<Events[Type]> }

const call = { callId: '', name: '', title: '?' } as const
const goneBack = { generation: '', seq: '', turn: '' } as const
const streamed = { step: '', attempt: '' } as const

const DURABLE: Table<DurableEvents> = {
  'turn.started': { turn: '', messageId: '', seq: '', text: '' },
  'model.waiting': { turn: '', round: '', provider: '', why: '', nextTryMs: '' },
  'message.completed': { turn: '', round: '', seq: '', text: '', calls: '', usage: '', model: '' },
  'transcript.compacted': {
    turn: '',
    round: '?',
    messages: '',
    sessionId: '',
    seq: '',
    text: '',
    cut: '',
    why: '',
    model: '?',
    usage: '?',
  },
  'message.rejected': { reason: '', preview: '', messageId: '?' },
  'tool.status': {
    ...call,
    showTip: '?',
    params: '?',
    status: '',
    turn: '',
    seq: '',
    durationMs: '',
    result: '',
    code: '?',
    error: '?',
    details: '?',
  },
  'tool.update': { ...call, update: '' },
  'permission.decided': { ...call, turn: '', decision: '', by: '', rule: '?', mode: '?', why: '?', touches: '' },
  'pending.opened': {
    ...call,
    id: '',
    kind: '',
    turn: '',
    round: '',
    preview: '',
    message: '',
    form: '?',
    permit: '?',
    at: '',
    expiresAt: '?',
    otherwise: '?',
  },
  'pending.closed': { ...call, id: '', kind: '', turn: '', decision: '', by: '?', args: '?', remember: '?' },
  'answer.rejected': { reason: '', id: '?', preview: '?' },
  'notice.failed': { key: '', why: '' },
  'step.quarantined': { key: '', kind: '', name: '', turn: '', callId: '?', deaths: '' },
  'step.taken_over': { key: '', kind: '', name: '', worker: '', begunAt: '', turn: '?', round: '?' },
  'workspace.acquired': { workspaceId: '', host: '', generation: '', turn: '' },
  'workspace.lost': { workspaceId: '', host: '?', generation: '', turn: '' },
  'session.forked': { child: '', label: '', awaited: '', profile: '?', turn: '?', callId: '?' },
  'session.paused': { reason: '', message: '', hint: '?', clears: '?', nextTryAt: '?' },
  'session.resumed': { tries: '?' },
  'turn.completed': { turn: '', stopReason: '', text: '' },
  'session.rewound': goneBack,
  'session.restarted': goneBack,
  'session.closed': {},
}

const LIVE: Table<{ [Type in keyof LiveEvents]: LiveEvents[Type] & Streamed }> = {
  'model.started': { model: '', round: '', ...streamed },
  'message.delta': { text: '', ...streamed },
  'reasoning.delta': { text: '', ...streamed },
  'tool.status': { ...call, showTip: '?', params: '?', status: '', result: '?', ...streamed },
  'tool.update': { ...call, update: '', ...streamed },
}

const shown = (fields: object): string[] =>
  Object.entries(fields)
    .map(([field, mark]) => `${field}${mark}`)
    .toSorted()

/** Reads the table whose first column has that heading: for each type of event, its fields. */
function documented(heading: string): Record<string, string[]> {
  const page = fileURLToPath(new URL('../../docs/architecture.md', import.meta.url))
  const lines = readFileSync(page, 'utf8').split('\n')
  const begin = lines.indexOf(`| ${heading} | tells | data |`)
  const rows = lines.slice(begin + 2, lines.indexOf('', begin))
  return Object.fromEntries(
    rows.map((row) => {
      const [, type = '', , data = ''] = row.split('|')
      return [type.replaceAll('`', '').trim(), [...data.matchAll(/`(.+?)`/g)].map(([, field = '']) => field).toSorted()]
    }),
  )
}

describe('the docs name every event with its fields, and no other event', () => {
  it.each([
    ['durable', DURABLE],
    ['live', LIVE],
  ])('%s', (heading, table) => {
    expect(documented(heading)).toEqual(
      Object.fromEntries(Object.entries(table).map(([type, fields]) => [type, shown(fields)])),
    )
  })
})
