/** Copies a text. */
import { useState, type ReactNode } from 'react'

const SAID_MS = 1500

/** @param props.text gives what is copied, when it is asked for */
export function CopyButton({ text }: { text(): string }): ReactNode {
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    // Not there on plain http from elsewhere: then there is nothing to say.
    await navigator.clipboard?.writeText(text()).catch(() => undefined)
    setCopied(true)
    setTimeout(() => setCopied(false), SAID_MS)
  }
  return (
    <button className="copy bare" onClick={() => void copy()}>
      {copied ? 'copied' : 'copy'}
    </button>
  )
}
