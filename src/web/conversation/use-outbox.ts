/** Messages on their way. Each has an id from its first moment, so one that is sent again is never said twice. */
import { useState } from 'react'
import { api } from '../server/api.ts'
import { tellFailure } from '../notices.tsx'

export interface Outgoing {
  messageId: string
  text: string
  failed: boolean
}

export interface Outbox {
  sending: readonly Outgoing[]
  /** @returns whether the server has taken it */
  send(text: string): Promise<boolean>
  /** Sends it again, under the same id. */
  again(messageId: string): Promise<boolean>
  drop(messageId: string): void
}

export function useOutbox(sessionId: string): Outbox {
  const [sending, setSending] = useState<readonly Outgoing[]>([])
  const change = (messageId: string, failed: boolean): void =>
    setSending((before) => before.map((one) => (one.messageId === messageId ? { ...one, failed } : one)))
  const post = async ({ messageId, text }: Outgoing): Promise<boolean> => {
    try {
      await api.sendMessage(sessionId, text, messageId)
      return true
    } catch (thrown) {
      change(messageId, true)
      tellFailure(thrown)
      return false
    }
  }
  return {
    sending,
    send(text) {
      const message = { messageId: newMessageId(), text, failed: false }
      setSending((before) => [...before, message])
      return post(message)
    },
    async again(messageId) {
      const message = sending.find((one) => one.messageId === messageId)
      if (!message) return false
      change(messageId, false)
      return post(message)
    },
    drop: (messageId) => setSending((before) => before.filter((one) => one.messageId !== messageId)),
  }
}

/** `crypto.randomUUID` is missing on plain http from elsewhere. */
function newMessageId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return `web-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
