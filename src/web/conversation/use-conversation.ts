/** Keeps the conversation of one session: its events as they come, and the records that complete them. */
import { useEffect, useRef, useState } from 'react'
import { api } from '../api.ts'
import { openEventStream, type StreamState } from '../event-stream.ts'
import { tellFailure } from '../notices.tsx'
import type { PageEvent } from '../wire.ts'
import type { Conversation } from './conversation-state.ts'
import { connected, emptyConversation, withEvents } from './conversation.ts'
import { endOfRecords, withRecords } from './with-records.ts'

/** A screen shows no more often than this what streams; a history of thousands of events is told in few pieces. */
const GATHER_MS = 40
/** Records are asked for when a moment has brought no more of them. */
const SETTLE_MS = 150
const PAGE = 500

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
        if (state.is === 'open') setConversation(connected)
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
    let over = false
    const read = async (): Promise<void> => {
      for (;;) {
        const from = place.current
        const { records, next } = await api.records(sessionId, { from, limit: PAGE })
        if (over) return
        inherited.current = Math.max(
          inherited.current,
          from + records.filter((one) => one.inheritedFrom !== undefined).length,
        )
        const end = endOfRecords(records, from, inherited.current)
        place.current = end
        if (records.length > 0) setConversation((before) => withRecords(before, records, from))
        if (next === undefined || end < from + records.length) return
      }
    }
    const timer = setTimeout(() => void read().catch(tellFailure), place.current === 0 ? 0 : SETTLE_MS)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [sessionId, told])

  return { conversation, stream }
}
