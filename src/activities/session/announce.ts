/** Tells the store the decisions of the workflow: pauses, rejections, turns that end outside a model call, the close. */
import { preview } from '../../core/message.ts'
import type { AnnounceInput, AnnounceOutcome, TurnEnding } from '../../protocol/announcements.ts'
import { announcedEvents, newEvent, type AnnouncedEvent } from '../../protocol/events.ts'
import { announceFacts } from '../../store/ledger/announce-facts.ts'
import { turnStarted } from '../../store/ledger/claim.ts'
import { nextRecord } from '../../store/ledger/hashes.ts'
import { getMessage } from '../../store/transcript/message-bodies.ts'
import { readWholeRecord } from '../../store/transcript/records.ts'
import { closeBelow, openChildren } from '../../store/sessions/closing.ts'
import { readTurnNow } from '../../store/transcript/turns.ts'
import type { TurnWrite, Writes } from '../../store/ledger/writes.ts'
import { currentAttempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'
import { releaseOf } from './release-session.ts'

export async function announce(deps: Deps, input: AnnounceInput): Promise<AnnounceOutcome> {
  const attempt = currentAttempt(deps, input)
  const ending = input.endTurn ? await endTurn(deps, input, input.endTurn) : { events: [], turns: [] }
  const closed = input.close ? closedTurns(input, await unanswered(deps, input, input.close.messages)) : []
  // Only the first batch of children closes: a later one must not close an agent that was opened again meanwhile.
  const closes = input.close?.after === undefined ? input.close : undefined
  const marks = closes?.cascade ? true : input.closing
  const writes: Writes = {
    ...ending,
    events: [...announcedEvents(input.told, input.events), ...ending.events],
    turns: [...ending.turns, ...closed],
    ...(input.pause !== undefined && { pause: input.pause }),
    ...(input.events.some(isOwnTry) && { treeStaysPaused: true as const }),
    ...(closes && { closed: true as const }),
    ...(marks && { closing: marks }),
    ...(input.message && { message: input.message }),
  }
  const { gen, closing } = await announceFacts(deps.db, attempt.run, { key: input.key, writes })
  // This comes before anybody is told: sessions of a told batch close the tree below them, which must not grow meanwhile.
  if (closing && writes.closing) await closeBelow(deps.db, input.sessionId)
  if (input.pause) deps.metrics.paused(input.pause.reason)
  deps.notify(input.sessionId)
  const release = closes && (await releaseOf(deps, input.sessionId))
  const tell = deps.agent.onPending !== undefined && input.pause && input.pause.nextTryAt === undefined
  return {
    gen,
    ...(tell && { tell: true as const }),
    ...(release && { release }),
    children: input.close && (closing || !closes) ? await openChildren(deps.db, input.sessionId, input.close) : [],
  }
}

/** A session that goes on by itself does not decide for the sessions below it. */
function isOwnTry({ type, data }: AnnouncedEvent): boolean {
  return type === 'session.resumed' && data.tries !== undefined
}

/** Ends the turn; one whose model call never began is opened first, so that its message is in the transcript. */
async function endTurn(
  deps: Deps,
  input: AnnounceInput,
  ending: TurnEnding,
): Promise<Required<Pick<Writes, 'events' | 'turns'>> & Writes> {
  const { sessionId, gen, turn } = input
  const { stopReason, rounds, opening } = ending
  const text = ending.textFrom === undefined ? '' : await textOf(deps, { sessionId, gen, seq: ending.textFrom })
  const completed = newEvent('turn.completed', {
    of: [turn],
    at: { turn },
    data: { turn, stopReason, text: preview(text) },
  })
  const { leftOut } = ending
  const ended: TurnWrite = { turn, stopReason, text, rounds, ...(leftOut !== undefined && { leftOut }) }
  if (!opening) return { events: [completed], turns: [ended] }
  const { messageId, seq } = opening
  const content = opening.text ?? (await getMessage(deps.db, sessionId, messageId)) ?? ''
  const before = await deps.transcripts.read(deps.db, { sessionId, gen, seq: seq - 1 })
  const record = nextRecord(before.chain, seq, { role: 'user', content })
  const opened = turnStarted({ turn, messageId, record })
  return { records: [record], events: [opened, completed], turns: [{ ...ended, messageId, startSeq: seq }] }
}

async function textOf(deps: Deps, at: { sessionId: string; gen: number; seq: number }): Promise<string> {
  const record = await readWholeRecord(deps.db, at)
  return record?.whole ?? record?.message.content ?? ''
}

/** A message that was answered before a recovery, and sent again since, keeps its answer. */
async function unanswered(
  { db }: Deps,
  { sessionId }: AnnounceInput,
  messages: { messageId: string }[],
): Promise<{ messageId: string }[]> {
  const turns = await Promise.all(messages.map(({ messageId }) => readTurnNow(db, sessionId, messageId)))
  return messages.filter((_message, i) => turns[i]?.turn?.status !== 'ended')
}

/** Messages that still wait when the session closes get turns too, so that clients that wait for an answer hear of the close. */
function closedTurns({ turn, base }: AnnounceInput, messages: { messageId: string }[]): TurnWrite[] {
  return messages.map(({ messageId }, i) => ({
    turn: turn + 1 + i,
    messageId,
    startSeq: base + 1,
    stopReason: 'closed',
    text: '',
    rounds: 0,
  }))
}
