/**
 * Tells people outside that something waits for them. The ledger keeps that they were told, so they are told once; only if
 * a worker dies between the telling and that, they are told again, with the same key. Nothing waits for this.
 */
import { Context } from '@temporalio/activity'
import { setTimeout } from 'node:timers/promises'
import { StelloError, messageOf } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import type { PendingNotifier, PendingWebhook } from '../../agent/pending-notifier.ts'
import { readText } from '../../core/from-env.ts'
import { newEvent } from '../../protocol/events.ts'
import type { Notice, NotifyInput } from '../../protocol/notices.ts'
import { decisionsOf } from '../../protocol/pending.ts'
import { readQuestions } from '../../store/watching/inbox.ts'
import { noticeId } from '../../protocol/keys.ts'
import { mustBeCurrent } from '../../store/ledger/runs.ts'
import { proposeOutcome, readOutcome } from '../../store/ledger/settle.ts'
import { currentAttempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'

/** How often the notifier is tried: within a quarter of a minute, and the time that the tries take. */
const TRIES = 5
const FIRST_WAIT_MS = 1000
const LEAVING_MS = 50
const TRY_MS = 10_000
const SHOWN = 1000

export async function notifyPeople(deps: Deps, input: NotifyInput): Promise<void> {
  const { agent, db } = deps
  const { run } = currentAttempt(deps, input)
  const { sessionId, key, turn, place } = input
  const gen = await mustBeCurrent(db, run)
  if ((await readOutcome(db, { sessionId, gen, key })) !== undefined) return
  const notice = agent.onPending && (await noticeOf(deps, input, gen))
  const problem = agent.onPending && notice ? await tried(agent.onPending, notice) : undefined
  const failed =
    problem === undefined
      ? []
      : [
          newEvent('notice.failed', {
            of: [key],
            at: place.round === undefined ? { told: place.told } : { turn, round: place.round },
            data: { key, why: problem },
          }),
        ]
  await proposeOutcome(db, { run, key, kind: 'hook', name: 'onPending' }, () => ({
    outcome: { kind: 'told', gen },
    writes: { events: failed },
  }))
  deps.notify(sessionId)
}

/** @returns undefined when it waits no longer */
async function noticeOf(
  { db, configs }: Deps,
  { sessionId, key, about }: NotifyInput,
  gen: number,
): Promise<Notice | undefined> {
  const { config } = await configs.read(db, sessionId)
  const place = { key: noticeId(sessionId, gen, key), sessionId, label: config.label, agent: config.agent }
  if ('pause' in about) {
    const message = preview(about.pause.message, SHOWN)
    return { ...place, kind: 'paused', message, command: `stello resume ${sessionId}` }
  }
  const item = (await readQuestions(db, [sessionId])).find(({ id }) => id === about.id)
  if (!item) return undefined
  const { id, kind, name, preview: args, message, expiresAt } = item
  return {
    ...place,
    kind,
    id,
    name,
    preview: args,
    message: preview(message, SHOWN),
    ...(expiresAt !== undefined && { expiresAt }),
    command: `stello answer ${sessionId} ${id} ${decisionsOf(kind).join('|')}`,
  }
}

/**
 * Temporal keeps how many tries have begun, so that a try counts that its worker did not survive, and an attempt that only
 * found the store away does not.
 *
 * @returns why it was never told @throws StelloError STORE_UNAVAILABLE when it shall be tried again
 */
async function tried(notifier: PendingNotifier, notice: Notice): Promise<string | undefined> {
  const context = Context.current()
  const begun = Number(context.info.heartbeatDetails ?? 0)
  if (begun >= TRIES) return `its worker has died in each of ${TRIES} tries`
  context.heartbeat(begun + 1)
  // The count leaves the process before code of the author could block it.
  await setTimeout(LEAVING_MS)
  const problem = await told(notifier, notice)
  if (problem === undefined || begun + 1 >= TRIES) return problem
  throw new StelloError('STORE_UNAVAILABLE', `onPending: ${problem}`, { retryAfterMs: FIRST_WAIT_MS * 2 ** begun })
}

/** @returns why it was not told */
async function told(notifier: PendingNotifier, notice: Notice): Promise<string | undefined> {
  const late = new AbortController()
  const { signal } = late
  const timer = globalThis.setTimeout(() => late.abort(), TRY_MS)
  const over = new Promise<string>((resolve) => {
    signal.addEventListener('abort', () => resolve(`it did not answer within ${TRY_MS / 1000} s`), { once: true })
  })
  try {
    const telling = typeof notifier === 'function' ? notifier(notice, { signal }) : post(notifier, notice, signal)
    return await Promise.race([Promise.resolve(telling).then(() => undefined), over])
  } catch (error) {
    return preview(messageOf(error), 500)
  } finally {
    clearTimeout(timer)
  }
}

async function post({ url, headers = {} }: PendingWebhook, notice: Notice, signal: AbortSignal): Promise<void> {
  const stated = Object.entries(headers).map(([name, value]) => [
    name,
    readText(value, `onPending: headers.${name}`, process.env),
  ])
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...Object.fromEntries(stated), 'content-type': 'application/json', 'idempotency-key': notice.key },
    body: JSON.stringify(notice),
    redirect: 'error',
    signal,
  })
  await answer.body?.cancel()
  if (!answer.ok) throw new Error(`the webhook has answered with status ${answer.status}`)
}
