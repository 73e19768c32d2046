/** What answers hold, for the OpenAPI document. The tests hold the answers of a real server against it. */
import { z } from '@hono/zod-openapi'
import { PAUSE_REASONS } from '../core/errors.ts'
import { DECISIONS, PENDING_KINDS } from '../protocol/pending.ts'
import { SESSION_STATUSES } from '../protocol/views.ts'

const at = z.iso.datetime()
const count = z.int().min(0)
const json = z.unknown()

export const done: z.ZodType = z.strictObject({})

export const about: z.ZodType = z
  .strictObject({ version: z.string(), namespace: z.string(), uiUrl: z.string().optional() })
  .openapi('About')

export const agents: z.ZodType = z.array(
  z.strictObject({
    name: z.string(),
    served: z.boolean().openapi({ description: 'a worker serves it now' }),
    profiles: z.array(z.string()).openapi({ description: 'the names of its fork profiles' }),
  }),
)

const pauseFields = {
  reason: z.enum(PAUSE_REASONS),
  message: z.string(),
  hint: z.string().optional(),
  clears: z.enum(['weather', 'keys']).optional(),
  nextTryAt: at.optional(),
}
const pause = z.strictObject(pauseFields).openapi('Pause')

const questionFields = {
  id: z.string(),
  kind: z.enum(PENDING_KINDS),
  name: z.string(),
  title: z.string().optional(),
  callId: z.string(),
  turn: count,
  round: count,
  preview: z.string(),
  message: z.string(),
  form: z
    .strictObject({
      hash: z.string(),
      header: z.string().optional(),
      options: z.array(z.strictObject({ label: z.string(), description: z.string().optional() })).optional(),
      multiSelect: z.literal(true).optional(),
      schema: json.optional(),
      preview: z.string().optional(),
    })
    .optional(),
  expiresAt: at.optional().openapi({ description: 'when it waits no longer; unset: it waits for ever' }),
  otherwise: z
    .strictObject({
      decision: z.enum(DECISIONS),
      text: z.string().optional(),
      values: z.record(z.string(), json).optional(),
    })
    .optional()
    .openapi({ description: 'what counts as the answer then' }),
  permit: z.strictObject({ hash: z.string(), touches: z.array(z.string()), rules: z.array(z.string()) }).optional(),
  at,
}
const pendingItem = z.strictObject(questionFields).openapi('PendingItem')

const place = { sessionId: z.string(), label: z.string(), agent: z.string() }
const inboxItem: z.ZodType = z
  .union([
    z.strictObject({ ...place, ...questionFields }),
    z.strictObject({ ...place, ...pauseFields, kind: z.literal('paused'), at }),
  ])
  .openapi('InboxItem')
export const inbox: z.ZodType = z.array(inboxItem)

const summaryFields = {
  id: z.string(),
  rootId: z.string(),
  parentId: z.string().optional(),
  branch: z
    .strictObject({ turn: count.optional(), seq: count.optional() })
    .optional()
    .openapi({ description: 'the turn of its parent that opened it, and the last record that it has inherited' }),
  depth: count,
  agent: z.string(),
  label: z.string(),
  profile: z.string().optional(),
  state: z.enum(SESSION_STATUSES),
  pause: pause.optional(),
  inHand: z.array(z.strictObject({ kind: z.string(), name: z.string(), title: z.string().optional(), since: at })),
  pending: z.array(pendingItem),
  weather: z.strictObject({ provider: z.string(), why: z.string(), since: at, nextTry: at }).optional(),
  heldBy: z.array(inboxItem),
  turns: count,
  records: count,
  createdAt: at,
  closedAt: at.optional(),
}
export const sessionDetail: z.ZodType = z
  .strictObject({ ...summaryFields, temporalLink: z.string().optional() })
  .openapi('Session')

export const roots: z.ZodType = z.array(
  z
    .strictObject({
      ...summaryFields,
      tree: z.strictObject({
        sessions: count,
        open: count,
        waiting: count,
        inputTokens: count,
        outputTokens: count,
        costUsd: z.number().optional(),
        lastAt: at,
      }),
    })
    .openapi('Root'),
)

export const sessionTree: z.ZodType = z
  .strictObject({ ...summaryFields, children: z.array(z.lazy(() => sessionTree)) })
  .openapi('SessionTree')

const message = z
  .looseObject({
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: z.string(),
  })
  .openapi('Message')
const record = z
  .strictObject({
    seq: count.openapi({ description: 'its place in the session that owns it' }),
    at,
    message,
    inheritedFrom: z.string().optional().openapi({ description: 'the session that owns it, if it is another' }),
    summarised: z.literal(true).optional().openapi({ description: 'the model reads a summary instead' }),
  })
  .openapi('Record')
export const recordPage: z.ZodType = z
  .strictObject({
    records: z.array(record),
    from: count,
    total: count,
    next: count.optional().openapi({ description: '`from` of the next page; unset: this one reaches the end' }),
  })
  .openapi('RecordPage')

export const searchHits: z.ZodType = z.array(
  z
    .strictObject({
      ...place,
      rootId: z.string(),
      seq: count,
      at,
      role: z.enum(['system', 'user', 'assistant', 'tool']),
      snippet: z
        .array(z.strictObject({ text: z.string(), hit: z.boolean() }))
        .openapi({ description: 'parts that follow each other; plain text, whatever it looks like' }),
    })
    .openapi('SearchHit'),
)

export const timeline: z.ZodType = z.array(
  z
    .strictObject({
      sessionId: z.string(),
      kind: z.enum(['model', 'tool', 'child', 'wait', 'pause']),
      name: z.string(),
      title: z.string().optional(),
      turn: count,
      round: count.optional(),
      callId: z.string().optional(),
      attempt: count,
      worker: z.string().optional().openapi({ description: 'boot id of the worker that ran it' }),
      begunAt: at,
      endedAt: at.optional().openapi({ description: 'unset: it goes on' }),
      outcome: z.enum(['succeeded', 'failed', 'unknown', 'taken_over', 'cancelled']).optional(),
      code: z.string().optional(),
    })
    .openapi('TimelineSpan'),
)

export const created: z.ZodType = z.strictObject({ id: z.string(), messageId: z.string().optional() })

const usage = z.strictObject({
  inputTokens: count,
  outputTokens: count,
  cachedTokens: count.optional(),
  costUsd: z.number().optional(),
})

export const stats: z.ZodType = z
  .strictObject({
    totals: z.strictObject({
      turns: count,
      modelCalls: count,
      toolCalls: count,
      inputTokens: count,
      outputTokens: count,
    }),
    tools: z.array(
      z.strictObject({
        toolName: z.string(),
        executionCount: count,
        successCount: count,
        failureCount: count,
        totalDuration: z.number(),
        averageDuration: z.number(),
        errors: z.record(z.string(), count).optional(),
      }),
    ),
  })
  .openapi('Stats')

/** `data` is described by the types `DurableEvents` and `LiveEvents` of `stello-temporal/client`. */
const event = z
  .strictObject({
    type: z.string(),
    sessionId: z.string(),
    at,
    offset: count.optional().openapi({ description: 'its number in its session; unset for what streams' }),
    data: z.record(z.string(), json),
  })
  .openapi('Event')
export const eventPage: z.ZodType = z
  .strictObject({ events: z.array(event), cursor: z.string().openapi({ description: '`from` of the next request' }) })
  .openapi('EventPage')
export const eventStream: z.ZodType = z.string().openapi({ description: 'server-sent events' })

export const taken: z.ZodType = z.strictObject({ messageId: z.string() })
export const turnResult: z.ZodType = z
  .strictObject({ text: z.string(), stopReason: z.string(), usage, rounds: count })
  .openapi('TurnResult')
export const turnUnderWay: z.ZodType = z
  .strictObject({ state: z.enum(SESSION_STATUSES), heldBy: z.array(inboxItem) })
  .openapi('TurnUnderWay')

export const reached: z.ZodType = z.strictObject({ sessions: count, lost: z.array(z.string()) }).openapi('Reached')
export const recovered: z.ZodType = z
  .strictObject({ restarted: z.boolean(), waiting: count, unsearchable: z.literal(true).optional() })
  .openapi('Recovered')

export const keptRules: z.ZodType = z.array(
  z
    .strictObject({
      scope: z.enum(['session', 'tree', 'agent']),
      owner: z.string(),
      rule: z.string(),
      sessionId: z.string(),
      at,
    })
    .openapi('KeptRule'),
)
