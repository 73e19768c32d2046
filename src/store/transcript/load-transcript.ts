/**
 * Reads the part of a transcript that a prompt needs: the nearest summary, and the records behind it. Summarised records are not
 * read, however many there are.
 */
import type { Branch } from '../../protocol/config.ts'
import type { Database } from '../database/database.ts'
import { readBranch, readInherited, readOwnRecords, type StoredRecord } from './records.ts'
import { readLeftOut, type LeftOut } from './left-out.ts'
import { readSummary, type Summary } from './summaries.ts'
import type { Message } from '../../core/message.ts'

/** Records of one session that follow each other. */
export interface Part {
  sessionId: string
  gen: number
  records: StoredRecord[]
  /** Turns of that session that models do not read. */
  leftOut: LeftOut[]
}

export interface Loaded {
  summary?: Summary
  /** The inherited records that are not summarised, oldest part first. */
  inherited: Part[]
  /** The session's own records that are not summarised begin behind this one. */
  from: number
  /** The session's own turns that models do not read. */
  leftOut: LeftOut[]
}

/** Everything but the session's own records. */
export async function loadInherited(db: Database, at: Branch): Promise<Loaded> {
  const [own, leftOut] = await Promise.all([readSummary(db, at), readLeftOut(db, at)])
  if (own) return { summary: own, inherited: [], from: own.at.seq, leftOut }
  const inherited: Part[] = []
  for (let [from, followed] = await parentOf(db, at); from; [from, followed] = await parentOf(db, from, followed)) {
    const { sessionId, gen } = from
    const summary = await readSummary(db, from, { followed })
    const records = await readOwnRecords(db, from, summary?.at.seq)
    inherited.unshift({ sessionId, gen, records, leftOut: await readLeftOut(db, from) })
    if (summary) return { summary, inherited, from: 0, leftOut }
  }
  return { inherited, from: 0, leftOut }
}

/** The summary that stands for the beginning of the transcript, in the session itself or in its inherited part. */
export async function findSummary(db: Database, at: Branch): Promise<Summary | undefined> {
  for (let [place, followed]: Inherited = [at, false]; place; [place, followed] = await parentOf(db, place, followed)) {
    const found = await readSummary(db, place, { followed })
    if (found) return found
  }
  return undefined
}

/** The summary that stands for all messages up to there. Only a message that follows them may be shown behind it. */
export async function findWholeSummary(db: Database, at: Branch): Promise<Summary | undefined> {
  for (let place: Branch | undefined = at; place; place = await readBranch(db, place.sessionId)) {
    const found = await readSummary(db, place, { followed: true })
    if (found || place.seq > 0) return found?.at.seq === place.seq ? found : undefined
  }
  return undefined
}

/** The place where the session branched, and whether there are records behind it. */
type Inherited = readonly [place: Branch | undefined, followed: boolean]

async function parentOf(db: Database, { sessionId, seq }: Branch, followed = false): Promise<Inherited> {
  return [await readBranch(db, sessionId), followed || seq > 0]
}

/** All messages up to there, whatever was summarised. It is read anew each time. */
export async function readWholeTranscript(db: Database, at: Branch): Promise<Message[]> {
  const records = [...(await readInherited(db, at.sessionId)), ...(await readOwnRecords(db, at))]
  return records.map(({ message }) => message)
}
