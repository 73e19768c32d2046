/** Tells user code about a fork, both of a call and of a client. */
import type { SessionFork } from '../../agent/agent.ts'
import { messageOf } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import type { NotStarted } from '../../protocol/steps.ts'
import { inputHash } from '../../store/ledger/hashes.ts'
import { sessionFacts } from '../session/about-session.ts'
import type { Attempt } from '../step/attempt.ts'
import { bounded, type Bounds } from '../step/bounded.ts'
import type { Deps } from '../deps.ts'
import type { Ending } from '../step/end-step.ts'
import { mustNotWait, runStep } from '../step/run-step.ts'
import type { StoredSession } from '../session/session-configs.ts'

/** The hook only reports a fork, so nobody waits longer than this for it. */
const HOOK_MS = 60_000

interface Announced extends Omit<StoredSession, 'config'> {
  sessionId: string
  parentId: string
  config: Pick<SessionConfig, 'label' | 'userId' | 'profile'>
}

/**
 * `onSessionFork` is user code with an effect of its own. So it is a step of its own, which is never repeated once
 * begun.
 *
 * @returns set when the hook did not run: the session is being closed, or it is paused and the resume must come here
 *   again
 */
export async function callForkHook(
  deps: Deps,
  attempt: Attempt,
  { key, child: { sessionId, ...child } }: { key: string; child: Announced },
): Promise<NotStarted | undefined> {
  const { onSessionFork } = deps.agent
  if (!onSessionFork) return undefined
  const { parentId, config } = child
  const fork: SessionFork = { ...sessionFacts(sessionId, child), parentId, label: config.label }
  const done: Ending<{ done: boolean }> = { kind: 'settle', outcome: { done: true }, writes: {} }
  const ran = await runStep<{ done: boolean }>(deps, attempt, {
    step: { key, kind: 'hook', name: 'onSessionFork', inputHash: inputHash('fork', fork.sessionId), durable: true },
    async run(_claim, stop) {
      try {
        await bounded(bounds(stop), () => onSessionFork(fork))
      } catch (error) {
        deps.log.warn(`onSessionFork failed for ${fork.sessionId}: ${preview(messageOf(error))}`)
      }
      return done
    },
    unknown: () => done,
    quarantined: () => done,
    refused: () => done,
  })
  const result = mustNotWait(ran)
  return 'kind' in result ? result : undefined
}

function bounds(stop: AbortSignal): Bounds {
  return {
    timeoutMs: HOOK_MS,
    stop,
    timedOut: () => new Error(`it did not end within ${HOOK_MS / 1000} s`),
    stopped: () => new Error('it was stopped'),
  }
}
