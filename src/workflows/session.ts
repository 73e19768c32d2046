/**
 * The session workflow: a mailbox, the pure `step`, and a performer. All waiting is one `condition` on the mailbox, so
 * that a session may wait for weeks without a timer and without growing its history.
 */
import {
  CancellationScope,
  allHandlersFinished,
  condition,
  currentUpdateInfo,
  makeContinueAsNewFunc,
  patched,
  workflowInfo,
} from '@temporalio/workflow'
import type { Input } from '../session/inputs.ts'
import { awaitedAgents } from '../session/await-agents.ts'
import { awaitedChildren } from '../session/calls.ts'
import { crowdedBy, isLong } from './run-load.ts'
import { initialState, notTaken, type SessionState } from '../session/state.ts'
import { step } from '../session/step.ts'
import { setHandlers } from './handlers.ts'
import { memoOf, type NewSession, type SessionInput } from '../protocol/session-input.ts'
import { createPerformer, type Performer } from './perform.ts'
import { createShown } from './ui-view.ts'
import { watchChildren, type AwaitedChild } from './watch-children.ts'

const CLOSE: Input = { type: 'closeRequested', cascade: false }

export async function session(input: SessionInput<SessionState>): Promise<void> {
  let state: SessionState = input.state ?? initialState(input.session)
  const mailbox: Input[] = []
  const taken = { signals: 0, updates: 0 }
  const emit = (arrived: Input): void => void mailbox.push(asRecorded(arrived))
  const receive = (arrived: Input): void => {
    taken[currentUpdateInfo() ? 'updates' : 'signals']++
    emit(arrived)
  }
  setHandlers({ emit: receive, state: () => state, mailbox, crowded })
  // "Request Cancellation" in the UI. If the workflow were simply cancelled, the session's row would stay open for ever.
  CancellationScope.current().cancelRequested.catch(() =>
    emit(patched('request-cancellation-stops-the-turn') ? { type: 'stopRequested' } : CLOSE),
  )
  await CancellationScope.nonCancellable(live)

  /** What a run of an older version did with it, it does again in a replay. */
  function asRecorded(arrived: Input): Input {
    const { type } = arrived
    if (type === 'sessionOpened')
      return (state.awaited || state.tells) && !patched('an-answered-task-reports')
        ? { ...arrived, older: true }
        : arrived
    if (type !== 'cancelRequested' && type !== 'stopRequested') return arrived
    return !state.opened && patched('an-early-stop-waits') ? { ...arrived, early: true } : arrived
  }

  async function live(): Promise<void> {
    const shown = createShown(input)
    const performer = createPerformer(input, emit, () => state.model)
    emit({
      type: 'runStarted',
      ...(!patched('what-people-stop-stays-stopped') && { older: true }),
      ...(!patched('agents-wake-nobody-who-asks') && { wakesAsking: true }),
    })
    if (!input.state) for (const given of givenAtStart(input.session)) emit(given)
    const unheard = (): AwaitedChild[] => awaitedChildren(state).filter(({ childId }) => !performer.hears(childId))
    void watchChildren(() => [...unheard(), ...awaitedAgents(state)], emit)
    const mayContinue = (): boolean => state.resting === true && !performer.telling()
    for (;;) {
      drain(performer)
      shown.show(state)
      const quiet = mailbox.length === 0 && performer.quiet() && allHandlersFinished()
      if (quiet && state.closed) return
      if (quiet && mayContinue()) await continueAsNew()
      await condition(() => mailbox.length > 0 || (performer.quiet() && (state.closed || mayContinue())))
    }
  }

  function drain(performer: Performer): void {
    const filled = workflowInfo().continueAsNewSuggested || crowded() || mayRest(performer)
    if (filled && !state.resting) mailbox.unshift({ type: 'runFilled' })
    for (let arrived = mailbox.shift(); arrived; arrived = mailbox.shift()) {
      const [next, commands] = step(state, arrived)
      state = next
      for (const command of commands) performer.perform(command)
      // Temporal lets people request the cancellation of a run once. The next run may be asked again.
      if (arrived.type === 'stopRequested' && !state.closing) mailbox.push({ type: 'runFilled' })
    }
  }

  /** Nothing is in flight that the end must wait for, and no handle of this run waits for a child. */
  function mayRest(performer: Performer): boolean {
    const { historyLength: events } = workflowInfo()
    return isLong({ events }) && performer.quiet() && !performer.telling() && awaitedChildren(state).length === 0
  }

  /** A crowded run ends at the next quiet point, so while it is crowded, something is still running. */
  function crowded(): string | undefined {
    const { historyLength, historySize } = workflowInfo()
    return crowdedBy({ events: historyLength, bytes: historySize, ...taken })
  }

  /** Carries the whole state. Temporal keeps memo and search attributes, but loses the summary. */
  async function continueAsNew(): Promise<never> {
    const again = makeContinueAsNewFunc<typeof session>({ memo: memoOf(input) })
    const { messages: _messages, stops: _stops, pauses: _pauses, closes: _closes, ...known } = input.session
    return again({ ...input, session: known, state })
  }
}

/** What comes with the start, as if it came right after it: messages, and what the lost workflow had been told and not done. */
function givenAtStart(session: NewSession): Input[] {
  const { pauses, stops, closes } = session
  return [
    ...notTaken(session).map((messageId): Input => ({ type: 'messageReceived', messageId })),
    ...(pauses ? [{ type: 'pauseRequested', ...pauses } as const] : []),
    ...(stops ? [{ type: 'cancelRequested' } as const] : []),
    ...(closes ? [{ type: 'closeRequested', ...closes } as const] : []),
  ]
}
