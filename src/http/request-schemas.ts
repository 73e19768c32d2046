/** What requests may hold. Only the form is checked here; what values mean is for the client to check. */
import { z } from '@hono/zod-openapi'
import { sessionIdProblem } from '../core/path-part.ts'
import { MESSAGE_ID_LIMIT, MESSAGE_TEXT_LIMIT } from '../protocol/temporal-messages.ts'
import { DECISIONS } from '../protocol/pending.ts'
import { REMEMBERS } from '../protocol/read-answer.ts'
import { SESSION_STATUSES } from '../protocol/views.ts'
import type {
  AnswerOptions,
  CreateSessionOptions,
  ForkOptions,
  KeptRule,
  PauseOptions,
  RecoverOptions,
  SessionStatus,
} from '../client/index.ts'

/** The schema of a type that is checked by the client too: `undefined` never arrives in JSON. */
const typed = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>

const text: z.ZodString = z.string().max(MESSAGE_TEXT_LIMIT)
const name: z.ZodString = z.string().min(1)
/** No session has another one. */
const sessionId: z.ZodType<string> = z.string().refine((id) => sessionIdProblem(id) === undefined, {
  error: ({ input }) => sessionIdProblem(input),
})
const values: z.ZodType = z.record(z.string(), z.unknown())
const bounds: z.ZodType = z.strictObject({
  maxDepth: z.int().optional(),
  maxChildren: z.int().optional(),
  maxSessions: z.int().optional(),
})

export const sessionPath: z.ZodType<{ id: string }> = z.strictObject({
  id: sessionId.openapi({ description: 'the id of the session' }),
})
export const turnPath: z.ZodType<{ id: string; messageId: string }> = z.strictObject({
  id: sessionId,
  messageId: name.openapi({ description: 'the id of the message that the turn answers' }),
})
export const itemPath: z.ZodType<{ id: string; itemId: string }> = z.strictObject({
  id: name,
  itemId: name.openapi({ description: 'the id of an item of the inbox' }),
})

/** Which roots. */
export const rootsQuery: z.ZodType<{ state?: SessionStatus; agent?: string; limit?: number; before?: string }> = typed(
  z.strictObject({
    state: z.enum(SESSION_STATUSES).optional(),
    agent: name.optional(),
    limit: z.coerce.number().int().optional().openapi({ description: 'at most 1,000. Default 100' }),
    before: z.iso.datetime().optional().openapi({ description: '`createdAt` of the last one of the page before' }),
  }),
)

/** Which records. */
export const recordsQuery: z.ZodType<{ from: number; limit?: number }> = typed(
  z.strictObject({
    from: z.coerce
      .number()
      .int()
      .default(0)
      .openapi({ description: 'records before the first one; negative: from the end' }),
    limit: z.coerce.number().int().optional().openapi({ description: 'at most 1,000. Default 200' }),
  }),
)

/** What to look for, and where. */
export const searchQuery: z.ZodType<{ q: string; session?: string; limit?: number }> = typed(
  z.strictObject({
    q: name.openapi({ description: 'words; `"a phrase"`, `or` and `-without` are understood' }),
    session: name.optional().openapi({ description: 'only its conversation, what it inherits included' }),
    limit: z.coerce.number().int().optional().openapi({ description: 'at most 100. Default 20' }),
  }),
)

/** A number in a query, where all is text. */
export function wholeNumber(least: number, most: number, otherwise: number): z.ZodType<number> {
  return z.coerce.number().int().min(least).max(most).default(otherwise)
}

/** A switch in a query. */
export function flag(otherwise: '0' | '1'): z.ZodType<'0' | '1'> {
  return z.enum(['0', '1']).default(otherwise)
}

export const createSessionBody: z.ZodType<CreateSessionOptions & { message?: string }> = typed(
  z
    .strictObject({
      agent: name,
      label: name.optional(),
      profile: name.optional(),
      systemPrompt: text.optional(),
      allowedTools: z.array(name).optional(),
      disallowedTools: z.array(name).optional(),
      permissionMode: name.optional(),
      userId: name.optional(),
      bounds: bounds.optional(),
      sessionId: name.optional(),
      message: text
        .refine((given) => given.trim() !== '', 'the message is empty')
        .optional()
        .openapi({ description: 'the first message' }),
    })
    .openapi('NewSession'),
)

export const messageBody: z.ZodType<{ text: string; messageId?: string }> = typed(
  z
    .strictObject({
      text,
      messageId: z
        .string()
        .max(MESSAGE_ID_LIMIT)
        .optional()
        .openapi({ description: 'the same id is taken only once: with it, a request may be repeated' }),
    })
    .openapi('NewMessage'),
)

export const forkBody: z.ZodType<ForkOptions> = typed(
  z
    .strictObject({
      label: name,
      profile: name.optional(),
      vars: z.record(z.string(), text).optional(),
      systemPrompt: text.optional(),
      context: z.enum(['none', 'inherit']).optional(),
      prompt: text.optional(),
      before: z.int().min(1).optional(),
      sessionId: name.optional(),
    })
    .openapi('NewFork'),
)

const tree = z.boolean().optional().openapi({ description: 'everything below it too' })
export const pauseBody: z.ZodType<PauseOptions> = typed(z.strictObject({ tree, reason: z.string().optional() }))
export const treeBody: z.ZodType<{ tree?: boolean }> = typed(z.strictObject({ tree }))
export const closeBody: z.ZodType<{ cascade?: boolean }> = typed(z.strictObject({ cascade: z.boolean().optional() }))
export const recoverBody: z.ZodType<RecoverOptions> = typed(
  z.strictObject({ restart: z.union([z.boolean(), z.literal('needed')]).optional() }),
)
export const noBody: z.ZodType = z.strictObject({})

export const answerBody: z.ZodType<AnswerOptions> = typed(
  z
    .strictObject({
      decision: z.enum(DECISIONS),
      text: text.optional(),
      values: values.optional(),
      args: values.optional(),
      remember: z.enum(REMEMBERS).optional(),
    })
    .openapi('Answer'),
)

export const ruleBody: z.ZodType<Pick<KeptRule, 'scope' | 'owner' | 'rule'>> = z.strictObject({
  scope: z.enum(['session', 'tree', 'agent']),
  owner: name,
  rule: name,
})
