/** Where a person writes to the agent. Enter sends, Shift+Enter begins a line. What was written survives a change of view. */
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

interface ComposerProps {
  sessionId: string
  closed: boolean
  /** A turn is under way: what is sent now waits for its end. */
  busy: boolean
  send(text: string): Promise<boolean>
}

const MOST_LINES = 10

export function Composer({ sessionId, closed, busy, send }: ComposerProps): ReactNode {
  const draft = `stello.draft.${sessionId}`
  const [text, setText] = useState(() => sessionStorage.getItem(draft) ?? '')
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (text === '') sessionStorage.removeItem(draft)
    else sessionStorage.setItem(draft, text)
    const element = area.current
    if (!element) return
    element.style.height = 'auto'
    element.style.height = `${Math.min(element.scrollHeight + 2, MOST_LINES * 22)}px`
  }, [text, draft])
  const submit = (): void => {
    const said = text.trim()
    if (said === '' || closed) return
    setText('')
    void send(text)
  }
  const onKey = (event: KeyboardEvent): void => {
    // While an input method composes a character, Enter chooses it.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <textarea
        ref={area}
        rows={1}
        data-key="m"
        aria-label="Message"
        placeholder={
          closed ? 'The session is closed' : busy ? 'Write the next message; it waits for its turn' : 'Write a message'
        }
        disabled={closed}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
      />
      <button className="primary" disabled={closed || text.trim() === ''}>
        Send
      </button>
    </form>
  )
}
