/** Keeps the conversation of one session: its events as they come, and the records that complete them. */
import { useEffect, useRef, useState } from 'react'
import { toFailure } from '../server/api-failure.ts'
import { api } from '../server/api.ts'
import { openEventStream, type StreamState } from '../server/event-stream.ts'
import { tellFailure } from '../notices.tsx'
import { rest } from '../server/rest.ts'
import { createTries, isFinal } from '../server/tries.ts'
import type { PageEvent } from '../server/wire.ts'
import type { Conversation } from './conversation-state.ts'
import { connected, emptyConversation, withEvents } from './conversation.ts'
import { endOfRecords, withRecords } from './with-records.ts'

/** A screen shows no more often than this what streams; a history of thousands of events is told in few pieces. */
const GATHER_MS = 40
/** Records are asked for when a moment has brought no more of them. */
const SETTLE_MS = 150
const PAGE = 500
/** A worker opens a fork a moment after it was made. The fork inherits nothing before that. */
const UNOPENED = { looks: 60, everyMs: 1000 }

/** @returns the conversation, and how its stream is */
export function useConversation(sessionId: string): { conversation: Conversation; stream: StreamState } {
  const [conversation, setConversation] = useState(() => emptyConversation(sessionId))
  const [stream, setStream] = useState<StreamState>({ is: 'connecting' })
  const place = useRef(0)
  const inherited = useRef(0)

  useEffect(() => {
    let events: PageEvent[] = []
    let gathering: ReturnType<typeof setTimeout> | undefined
    const flush = (): void => {
      clearTimeout(gathering)
      gathering = undefined
      const batch = events
      events = []
      if (batch.length > 0) setConversation((before) => withEvents(before, batch))
    }
    const stop = openEventStream({
      sessionId,
      onEvent(event) {
        if (event.type === 'session.rewound')
          place.current = Math.min(place.current, inherited.current + event.data.seq)
        events.push(event)
        gathering ??= setTimeout(flush, GATHER_MS)
      },
      onState(state) {
        flush()
        if (state.is === 'open' && state.fresh) setConversation(connected)
        setStream(state)
      },
    })
    return () => {
      stop()
      clearTimeout(gathering)
    }
  }, [sessionId])

  // The first read also finds what was inherited, which no event tells of.
  const { told } = conversation
  useEffect(() => {
    const stop = new AbortController()
    const tries = createTries(stop.signal)
    const readAll = async (): Promise<void> => {
      await rest(place.current === 0 ? 0 : SETTLE_MS, stop.signal)
      for (let more = true, looks = 0; more && !stop.signal.aborted;) {
        try {
          more = await readPage()
          tries.works(true)
          if (place.current > 0 || looks++ === UNOPENED.looks) continue
          await rest(UNOPENED.everyMs, stop.signal)
          more = true
        } catch (thrown) {
          if (isFinal(toFailure(thrown))) return tellFailure(thrown)
          await tries.failed(thrown)
        }
      }
    }
    const readPage = async (): Promise<boolean> => {
      const from = place.current
      const { records, next } = await api.records(sessionId, { from, limit: PAGE })
      if (stop.signal.aborted) return false
      const taken = records.filter((one) => one.inheritedFrom !== undefined).length
      if (taken > 0) inherited.current = from + taken
      const end = endOfRecords(records, from, inherited.current)
      place.current = end
      if (records.length > 0) setConversation((before) => withRecords(before, records, from))
      return next !== undefined && end === from + records.length
    }
    void readAll()
    return () => stop.abort()
  }, [sessionId, told])

  return { conversation, stream }
}
