/** Hears which sessions have news. It uses one connection, which is replaced when it breaks. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { NEVER_IDLE, connectionConfig } from './connection.ts'
import { CHANNEL, readNews, type News } from './notifier.ts'

const RETRY_MS = 500

type Heard = (news: News, sessionId?: string) => void

/**
 * One session, by its id, or all that a function accepts. News of one session costs nothing to a subscriber of another.
 */
export type Concerns = string | ((sessionId: string) => boolean)

export interface Listener {
  /** Nothing that is notified now is lost. False before the first subscriber, and while the connection is broken. */
  connected(): boolean
  /**
   * Calls `heard` for news of the sessions that concern the subscriber. A call without a session id means that any
   * session may have news.
   *
   * @returns a function that stops it
   */
  subscribe(concerns: Concerns, heard: Heard): () => void
  close(): Promise<void>
}

/**
 * Connects with the first subscriber. Calls all subscribers after each connect, because news may be lost without a
 * connection; so subscribers must poll too.
 */
export function createListener(url: string): Listener {
  const ofOne = new Map<string, Set<Heard>>()
  const ofMany = new Map<Heard, (sessionId: string) => boolean>()
  let client: pg.Client | undefined
  let closed = false
  let connecting: Promise<void> | undefined

  const connect = async (): Promise<void> => {
    while (!closed && !client) {
      const next = new pg.Client(connectionConfig(url, 'stello-listener', NEVER_IDLE))
      next.on('error', () => undefined)
      let ended = false
      next.once('end', () => {
        ended = true
        if (client !== next) return
        client = undefined
        start()
      })
      next.on('notification', ({ payload = '' }) => {
        const { sessionId, news } = readNews(payload)
        for (const heard of ofOne.get(sessionId) ?? []) heard(news, sessionId)
        for (const [heard, concerns] of ofMany) if (concerns(sessionId)) heard(news, sessionId)
      })
      try {
        await next.connect()
        await next.query(`listen ${CHANNEL}`)
        if (ended) throw new Error('the connection has ended')
        client = next
        // Earlier notifications are lost, so every session may have news.
        for (const heard of [...ofOne.values()].flatMap((all) => [...all])) heard('decision')
        for (const heard of ofMany.keys()) heard('decision')
      } catch {
        await next.end().catch(() => undefined)
        await delay(RETRY_MS, undefined, { ref: false })
      }
    }
  }
  const start = (): void => {
    if (!closed) connecting ??= connect().finally(() => (connecting = undefined))
  }
  return {
    connected: () => client !== undefined,
    subscribe(concerns, heard) {
      if (!client) start()
      if (typeof concerns === 'function') {
        ofMany.set(heard, concerns)
        return () => void ofMany.delete(heard)
      }
      const all = ofOne.get(concerns) ?? new Set()
      ofOne.set(concerns, all.add(heard))
      return () => {
        all.delete(heard)
        if (all.size === 0 && ofOne.get(concerns) === all) ofOne.delete(concerns)
      }
    },
    async close() {
      closed = true
      await connecting
      await client?.end()
    },
  }
}
