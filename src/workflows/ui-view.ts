/** What the Temporal UI shows about a session: memo, search attributes, current details. */
import { patched, setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'
import { status, type SessionState } from '../session/state.ts'
import type { SessionStatus } from '../protocol/views.ts'
import { STATE } from '../protocol/search-attributes.ts'
import type { SessionInput } from '../protocol/session-input.ts'
import { details } from './ui-details.ts'

export interface Shown {
  show(state: SessionState): void
}

/** An upsert is a history event. So the state is written only when it is another one. */
export function createShown(input: SessionInput<SessionState>): Shown {
  // Runs that an older version has begun do not tell idle from running.
  const exact = input.searchable && patched('idle-is-told-from-running')
  const searched = (now: SessionStatus): string => (exact ? now : coarse(now))
  const before = input.state ? coarse(status(input.state)) : 'active'
  let written = exact ? workflowInfo().typedSearchAttributes.get(STATE) : before
  return {
    show(state) {
      setCurrentDetails(details(state, input))
      const now = searched(status(state))
      if (!input.searchable || now === written) return
      written = now
      upsertSearchAttributes([{ key: STATE, value: now }])
    },
  }
}

function coarse(state: SessionStatus): string {
  return state === 'idle' || state === 'running' ? 'active' : state
}
