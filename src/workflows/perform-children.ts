/** Carries out the commands that concern other sessions: children, and the parent that waits for this one. */
import {
  ChildWorkflowCancellationType,
  ParentClosePolicy,
  getExternalWorkflowHandle,
  startChild,
  workflowInfo,
  type ChildWorkflowHandle,
  type Workflow,
} from '@temporalio/workflow'
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common'
import { messageOf } from '../core/errors.ts'
import { agentReportSignal, cancelTurnSignal, childReportSignal, closeSignal } from '../protocol/temporal-messages.ts'
import { attributesOf } from '../protocol/search-attributes.ts'
import {
  SESSION_WORKFLOW,
  WORKFLOW_TASK_TIMEOUT,
  memoOf,
  summaryOf,
  type SessionInput,
} from '../protocol/session-input.ts'
import { causeOf } from './lost-activities.ts'
import type { Performing, Run } from './run.ts'

export interface Children extends Performing<
  'startChild' | 'cancelChild' | 'closeChildren' | 'reportToParent' | 'tellParent'
> {
  /** Whether this run will be told when that child ends. */
  hears(childId: string): boolean
}

export function performForChildren(run: Run): Children {
  const childStarts = new Map<string, Promise<void>>()
  const heard = new Set<string>()

  function watchChild(child: ChildWorkflowHandle<Workflow>, callKey: string, childId: string): void {
    const vanished = (message: string): void => run.emit({ type: 'childVanished', callKey, childId, message })
    child.result().then(
      () => vanished('ended without an answer'),
      (error: unknown) => vanished(`ended abnormally: ${messageOf(causeOf(error))}`),
    )
  }

  return {
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
        rootId: run.input.rootId,
        parentId: workflowInfo().workflowId,
        ...(config.profile !== undefined && { profile: config.profile }),
        searchable: run.input.searchable,
        ...(run.input.store !== undefined && { store: run.input.store }),
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
        run.emit({
          type: 'childVanished',
          callKey,
          childId: sessionId,
          message: `could not start: ${messageOf(error)}`,
        })
      }
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
      run.emit({ type: 'childrenTold', upTo: children.at(-1) ?? '' })
    },

    async reportToParent({ parentId, report }) {
      await getExternalWorkflowHandle(parentId).signal(childReportSignal, report).catch(ignoreGone)
    },

    async tellParent({ parentId, report }) {
      await getExternalWorkflowHandle(parentId).signal(agentReportSignal, report).catch(ignoreGone)
    },

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

/** The other session is closed or gone, so nobody is left to hear the signal. */
function ignoreGone(): void {}
