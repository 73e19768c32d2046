/**
 * Bodies of user messages: those that are too big for a signal, and those that must be stored before a signal is sent.
 */
import { clean } from '../../core/clean.ts'
import { StelloError } from '../../core/errors.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

/** A user message, with its whole text. */
export interface MessageBody {
  messageId: string
  text: string
}

const PUT: Statement = statement(
  'message_put',
  `insert into messages (session_id, message_id, body) values ($1, $2, $3) on conflict do nothing`,
)
const GET: Statement = statement('message_get', `select body from messages where session_id = $1 and message_id = $2`)

/** Stores a text that was accepted already. If another text has its id by now, that other text stays. */
export async function keepMessage(db: Database, sessionId: string, { messageId, text }: MessageBody): Promise<void> {
  await run(db.pool, PUT, [sessionId, messageId, clean(text)])
}

/** @throws StelloError INVALID_MESSAGE when another text has the id already */
export async function putMessage(db: Database, sessionId: string, { messageId, text }: MessageBody): Promise<void> {
  await keepMessage(db, sessionId, { messageId, text })
  const stored = await getMessage(db, sessionId, messageId)
  if (stored !== clean(text)) {
    throw new StelloError(
      'INVALID_MESSAGE',
      `message id ${messageId} was used for another text in session ${sessionId}`,
      {
        hint: 'a message id names one message for good: use a new one',
      },
    )
  }
}

export async function getMessage(db: Database, sessionId: string, messageId: string): Promise<string | undefined> {
  const [row] = await run<{ body: string }>(db.pool, GET, [sessionId, messageId])
  return row?.body
}
