/** Forks the session: at its end, or before one of its records. */
import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { ForkOptions } from '../../client/index.ts'
import { api } from '../server/api.ts'
import { attempt } from '../notices.tsx'
import { go } from '../route.ts'

interface ForkDialogProps {
  sessionId: string
  onClose(): void
}

export function ForkDialog({ sessionId, onClose }: ForkDialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  const [busy, setBusy] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  const fork = async (form: FormData): Promise<void> => {
    setBusy(true)
    const done = await attempt(async () => {
      const { id } = await api.fork(sessionId, forkOptions(form))
      const first = valueOf(form, 'message')
      if (first !== '') await api.sendMessage(id, first)
      go({ at: 'session', sessionId: id })
    }, 'Forked.')
    setBusy(false)
    if (done) onClose()
  }
  return (
    <dialog ref={dialog} className="fork-dialog" aria-labelledby="fork-title" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void fork(new FormData(event.currentTarget))
        }}
      >
        <h2 id="fork-title">Fork this session</h2>
        <p className="quiet">The fork goes its own way. This session is not changed.</p>
        <label>
          <span className="what">Label</span>
          <input name="label" required maxLength={200} autoFocus />
        </label>
        <label>
          <span className="what">First message</span>
          <textarea name="message" />
        </label>
        <div className="two">
          <label>
            <span className="what">History</span>
            <select name="context" defaultValue="inherit">
              <option value="inherit">Inherit it</option>
              <option value="none">Begin empty</option>
            </select>
          </label>
          <label>
            <span className="what">Before record</span>
            <input name="before" type="number" min={1} placeholder="the end" />
          </label>
        </div>
        <label>
          <span className="what">System prompt</span>
          <textarea name="systemPrompt" placeholder="as it is" />
        </label>
        <div className="actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button className="primary" disabled={busy}>
            Fork
          </button>
        </div>
      </form>
    </dialog>
  )
}

function valueOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

function forkOptions(form: FormData): ForkOptions {
  const before = valueOf(form, 'before')
  const systemPrompt = valueOf(form, 'systemPrompt')
  const context = valueOf(form, 'context') === 'none' ? ('none' as const) : ('inherit' as const)
  return {
    label: valueOf(form, 'label'),
    context,
    ...(systemPrompt !== '' && { systemPrompt }),
    ...(before !== '' && context === 'inherit' && { before: Number(before) }),
  }
}
