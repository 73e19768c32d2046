/** Activities as a worker runs them, with the store and without Temporal: their dependencies, and one attempt. */
import { Context } from '@temporalio/activity'
import type { Client } from '@temporalio/client'
import { noopMetricMeter } from '@temporalio/common'
import type { Deps } from '../../src/activities/deps.ts'
import { Gates } from '../../src/activities/model/gates.ts'
import { LastChance } from '../../src/activities/step/last-chance.ts'
import { createLiveWriter } from '../../src/activities/live-writer.ts'
import { createMetrics } from '../../src/activities/metrics.ts'
import { SessionConfigs } from '../../src/activities/session/session-configs.ts'
import { KeptInstances } from '../../src/activities/tool/kept-instances.ts'
import { createStelloAgent, type AgentDefinition } from '../../src/agent/agent.ts'
import type { Database } from '../../src/store/database/database.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { TranscriptCache } from '../../src/store/transcript/transcript-cache.ts'
import { fakeActivity } from '../support/activity-context.ts'
import { NAMESPACE, OWNER, TOKEN } from './fixtures.ts'

/** Temporal knows only the run that asks. Code that looks at other workflows cannot be tested so. */
export function depsOf(db: Database, agent: Omit<AgentDefinition, 'name'>, bootId: string = OWNER): Deps {
  const log = { warn: () => undefined }
  const notify = (): void => undefined
  const parts: Deps = {
    client: askingRunIsNewest,
    agent: createStelloAgent({ name: 'test', ...agent }),
    db,
    bootId,
    liveness: { held: () => true },
    running: new Map(),
    stopping: new AbortController().signal,
    lastChance: new LastChance(0),
    gates: new Gates(),
    stepWatch: { begun: () => undefined, ended: () => undefined },
    keptInstances: new KeptInstances(log.warn),
    metrics: createMetrics(noopMetricMeter),
    live: createLiveWriter(db, { notify, log }),
    transcripts: new TranscriptCache(),
    configs: new SessionConfigs(),
    log,
    notify,
  }
  return parts
}

const askingRunIsNewest = {
  options: { namespace: NAMESPACE },
  withDeadline: <T>(_until: number, work: () => Promise<T>) => work(),
  workflow: {
    getHandle: () => ({ describe: async () => ({ runId: Context.current().info.workflowExecution?.runId }) }),
  },
} as unknown as Client

/** One attempt that nobody stops. */
export function attempt<T>(run: RunRef, work: () => Promise<T>, more: { allowedMs?: number } = {}): Promise<T> {
  return fakeActivity({ run, token: TOKEN, ...more }).inside(work)
}
