/**
 * Carries out the commands of `step`: a command starts an activity, a child workflow or a signal, and its end becomes
 * an event. This code decides nothing about the session and remembers only what is in flight.
 */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  ParentClosePolicy,
  getExternalWorkflowHandle,
  patched,
  sleep,
  startChild,
  workflowInfo,
  type ChildWorkflowHandle,
  type Workflow,
} from '@temporalio/workflow'
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common'
import { messageOf } from '../core/errors.ts'
import type { Command } from '../session/commands.ts'
import type { Input } from '../session/inputs.ts'
import type { StepRef } from '../protocol/steps.ts'
import { callInPlace } from './call-in-place.ts'
import {
  noticeActivity,
  openingActivity,
  releaseActivity,
  stepActivity,
  storeActivity,
  verifyingSettle,
} from './activities.ts'
import { causeOf, failed, lostHow } from './lost-activities.ts'
import { byOwnClock } from './own-clock.ts'
import { agentReportSignal, cancelTurnSignal, childReportSignal, closeSignal } from '../protocol/messages.ts'
import {
  SESSION_WORKFLOW,
  WORKFLOW_TASK_TIMEOUT,
  memoOf,
  summaryOf,
  type SessionInput,
} from '../protocol/session-input.ts'
import { attributesOf } from '../protocol/search-attributes.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>
type RunFacts = Pick<StepRef, 'prevRunId' | 'fresh' | 'store'>

export interface Performer {
  perform(command: Command): void
  /**
   * True if nothing is in flight that must end before continue-as-new or the workflow's end. The wait for a child need
   * not end.
   */
  quiet(): boolean
  /** People are being told of something. The next run would tell it again, so this one continues as new only behind that. */
  telling(): boolean
  /** Whether this run will be told when that child ends. */
  hears(childId: string): boolean
}

export function createPerformer(
  input: SessionInput,
  emit: (event: Input) => void,
  model: () => { name: string; timeoutMs: number },
): Performer {
  const { continuedFromExecutionRunId: prevRunId, firstExecutionRunId, runId } = workflowInfo()
  // Every activity gets these facts, because an announcement may reach the store before the session is opened. A reset
  // run keeps the first run id, but has a run id of its own, so it is not fresh.
  let run: RunFacts = {
    ...(prevRunId !== undefined && { prevRunId }),
    ...(firstExecutionRunId === runId && { fresh: runId }),
    ...(input.store !== undefined && { store: input.store }),
  }
  const cancellable = new Set<CancellationScope>()
  const childStarts = new Map<string, Promise<void>>()
  const heard = new Set<string>()
  let inFlight = 0
  let telling = 0
  /**
   * Announcements go one after another. Those that decide nothing have a queue of their own, so that no other waits for
   * them.
   */
  const lastTold: Record<'facts' | 'asides', Promise<unknown>> = { facts: Promise.resolve(), asides: Promise.resolve() }

  async function steps(work: () => Promise<void>): Promise<void> {
    const scope = new CancellationScope()
    cancellable.add(scope)
    try {
      await scope.run(work)
    } finally {
      cancellable.delete(scope)
    }
  }

  const perform: { [T in Command['type']]: (command: Of<T>) => Promise<void> } = {
    async openSession({ input }) {
      const outcome = await openingActivity()({ ...input, ...run })
      if (outcome.kind === 'opened') {
        const { fresh: _opened, ...known } = run
        run = known
      }
      emit({ type: 'sessionOpened', outcome })
    },

    async callModel({ input }) {
      const { turn, round } = input
      await steps(async () => {
        try {
          const { name, timeoutMs } = model()
          const summary = `${name} · turn ${turn}, round ${round + 1}`
          const outcome = await stepActivity('callModel', timeoutMs, summary)({ ...input, ...run })
          emit({ type: 'modelEnded', turn, round, outcome })
        } catch (error) {
          const how = lostHow(error)
          if (how) emit({ type: 'modelLost', turn, round, how })
          else emit(failed({ of: 'model', turn, round }, error))
        }
      })
    },

    async compact({ input }) {
      const { key } = input
      await steps(async () => {
        try {
          const { name, timeoutMs } = model()
          const compact = stepActivity('compact', timeoutMs, `make the conversation shorter for ${name}`)
          emit({ type: 'compacted', key, outcome: await compact({ ...input, ...run }) })
        } catch (error) {
          if (lostHow(error)) emit({ type: 'compactionLost', key, input })
          else emit(failed({ of: 'compaction', key }, error))
        }
      })
    },

    async settleCompaction({ input }) {
      const { key } = input
      try {
        const settle = storeActivity('settleCompaction', 'compaction: stopped')
        emit({ type: 'compacted', key, outcome: await settle({ ...input, ...run }) })
      } catch (error) {
        emit(failed({ of: 'compaction', key }, error))
      }
    },

    async callTool({ input, route, preview, timeoutMs }) {
      const { turn, round, index } = input
      await steps(async () => {
        try {
          const summary = `${input.call.title ?? input.call.name} ${preview}`
          const asked = { ...input, ...run }
          const outcome =
            route === 'tool'
              ? await callInPlace(asked, timeoutMs, summary)
              : await stepActivity('openChild', timeoutMs, summary)(asked)
          emit({ type: 'toolEnded', turn, round, index, outcome: byOwnClock(outcome) })
        } catch (error) {
          const how = lostHow(error)
          if (how) emit({ type: 'toolLost', turn, round, index, how })
          else emit(failed({ of: 'tool', turn, round, index }, error))
        }
      })
    },

    async settleModel({ input: { step, proposed } }) {
      const { turn, round } = step
      try {
        const settle = storeActivity('settleModel', `model: ${PROPOSED[proposed]}`)
        emit({ type: 'modelEnded', turn, round, outcome: await settle({ step: { ...step, ...run }, proposed }) })
      } catch (error) {
        emit(failed({ of: 'model', turn, round }, error))
      }
    },

    async settleTool({ input: { step, ...proposal }, timeoutMs }) {
      const { turn, round, index, call } = step
      const { kind } = proposal.proposed
      const summary = `${call.title ?? call.name}: ${PROPOSED[kind]}`
      const verifying = timeoutMs > 0 && (kind === 'cancelled' || kind === 'timedOut')
      const end = async (): Promise<void> => {
        const settle = verifying ? verifyingSettle(timeoutMs, summary) : storeActivity('settleTool', summary)
        const outcome = await settle({ step: { ...step, ...run }, ...proposal })
        emit({ type: 'toolEnded', turn, round, index, outcome: byOwnClock(outcome) })
      }
      try {
        // A cancel that started this settle must not cancel it.
        await (verifying && kind === 'timedOut' ? steps(end) : end())
      } catch (error) {
        if (verifying && lostHow(error) === 'cancelled')
          emit({ type: 'toolLost', turn, round, index, how: 'cancelled' })
        else emit(failed({ of: 'tool', turn, round, index }, error))
      }
    },

    async announce({ input, tag }) {
      // A run that was started by an older version closes without this announcement.
      if (input.closing && !patched('closing-is-told-first')) return
      const kind = tag === 'refused' || tag === 'message' ? 'asides' : 'facts'
      const before = lastTold[kind]
      const work = (async () => {
        await before
        const what = [...new Set(input.events.map((event) => event.type))].join(', ') || tag
        const outcome = await storeActivity('announce', what)({ ...input, ...run })
        const messageId = input.message?.messageId
        emit({ type: 'announced', key: input.key, tag, outcome, ...(messageId !== undefined && { messageId }) })
        return outcome
      })()
      lastTold[kind] = work
      const { release } = await work
      // Only a worker whose packs are to be told says so: a run that was recorded before there was this knows none.
      if (release) await releaseActivity(release.host)({ sessionId: input.sessionId, ...run }).catch(() => undefined)
    },

    async startChild({ child, callKey, awaited }) {
      const { sessionId, config, messageId } = child
      const childInput: SessionInput = {
        session: {
          sessionId,
          label: config.label,
          ...(messageId !== undefined && { messages: [messageId] }),
          ...(awaited && { awaited: { parentId: workflowInfo().workflowId, callKey } }),
        },
        agent: config.agent,
        rootId: input.rootId,
        parentId: workflowInfo().workflowId,
        ...(config.profile !== undefined && { profile: config.profile }),
        searchable: input.searchable,
        ...(input.store !== undefined && { store: input.store }),
      }
      heard.add(sessionId)
      const starting = startSession(childInput)
      childStarts.set(
        sessionId,
        starting.then(
          () => undefined,
          () => undefined,
        ),
      )
      try {
        const started = await starting
        if (!started) heard.delete(sessionId)
        else if (awaited) watchChild(started, callKey, sessionId)
      } catch (error) {
        emit({ type: 'childVanished', callKey, childId: sessionId, message: `could not start: ${messageOf(error)}` })
      }
    },

    tryAgain: async ({ at }) => happensAt(at, { type: 'tryDue', at }, 'until the session tries again'),

    endWait: async ({ callKey, until }) =>
      happensAt(until, { type: 'waitOver', callKey, until }, 'until the wait for agents is over'),

    endAsking: async ({ callKey, id, at }) =>
      happensAt(at, { type: 'askingOver', callKey, id }, `until nobody may answer ${id} any more`),

    /** Not in flight: a session closes without waiting for it. */
    async notifyPeople({ input }) {
      // A run that was recorded by an older version continued as new beside it.
      const counted = patched('continue-behind-notices') ? 1 : 0
      telling += counted
      const notified = (): void => {
        telling -= counted
        emit({ type: 'peopleNotified', key: input.key })
      }
      void noticeActivity('tell people')({ ...input, ...run }).then(notified, notified)
    },

    async cancelSteps() {
      for (const scope of cancellable) scope.cancel()
    },

    async cancelChild({ childId }) {
      await childStarts.get(childId)
      await getExternalWorkflowHandle(childId).signal(cancelTurnSignal).catch(ignoreGone)
    },

    async closeChildren({ children }) {
      const close = async (childId: string): Promise<void> => {
        await childStarts.get(childId)
        await getExternalWorkflowHandle(childId).signal(closeSignal, { cascade: true }).catch(ignoreGone)
      }
      await Promise.all(children.map(close))
      emit({ type: 'childrenTold', upTo: children.at(-1) ?? '' })
    },

    async reportToParent({ parentId, report }) {
      await getExternalWorkflowHandle(parentId).signal(childReportSignal, report).catch(ignoreGone)
    },

    async tellParent({ parentId, report }) {
      await getExternalWorkflowHandle(parentId).signal(agentReportSignal, report).catch(ignoreGone)
    },
  }

  /** Not in flight: the next run promises it anew. @param time ISO 8601 */
  function happensAt(time: string, input: Input, summary: string): void {
    void sleep(Math.max(1, Date.parse(time) - Date.now()), { summary }).then(() => emit(input))
  }

  function watchChild(child: ChildWorkflowHandle<Workflow>, callKey: string, childId: string): void {
    const vanished = (message: string): void => emit({ type: 'childVanished', callKey, childId, message })
    child.result().then(
      () => vanished('ended without an answer'),
      (error: unknown) => vanished(`ended abnormally: ${messageOf(causeOf(error))}`),
    )
  }

  return {
    perform(command) {
      inFlight++
      const done = (perform[command.type] as (command: Command) => Promise<void>)(command)
      void done.finally(() => inFlight--)
    },
    quiet: () => inFlight === 0,
    telling: () => telling > 0,
    hears: (childId) => heard.has(childId),
  }
}

/**
 * Starts a child that outlives its parent. A child that runs already is adopted, because the store has checked its
 * origin (`writes.ts`).
 */
async function startSession(input: SessionInput): Promise<ChildWorkflowHandle<Workflow> | undefined> {
  try {
    return await startChild(SESSION_WORKFLOW, {
      workflowId: input.session.sessionId,
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      staticSummary: summaryOf(input),
      memo: memoOf(input),
      ...(input.searchable && { typedSearchAttributes: attributesOf(input) }),
    })
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined
    throw error
  }
}

const PROPOSED = {
  cancelled: 'cancelled',
  timedOut: 'timed out',
  childEnded: 'the child has answered',
  childLost: 'the child is gone',
  answered: 'a person has answered',
  expired: 'nobody has answered in time',
} as const

/** The other session is closed or gone, so nobody is left to hear the signal. */
function ignoreGone(): void {}
