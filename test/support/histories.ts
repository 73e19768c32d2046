/**
 * Histories of workflow runs as files. They are recorded once and replayed by all later versions. Each recording is a
 * folder of its own below `test/histories`. It is never changed, because the sessions of users have such histories too.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { temporal } from '@temporalio/proto'
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { bundleWorkflows } from '../../src/worker/bundle-workflows.ts'
import { quietRuntime } from './session-fixture.ts'

const { History } = temporal.api.history.v1

export interface NamedHistory {
  /** The scenario, and which of its sessions and runs. */
  name: string
  history: temporal.api.history.v1.IHistory
}

const HISTORIES = fileURLToPath(new URL('../histories', import.meta.url))

/** Today's workflow code, as a worker runs it. */
export function bundleToday(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflows(new URL('../../src/workflows', import.meta.url))
}

/** @returns the histories that this code cannot replay, by name, each with its error */
export async function replay(
  workflowBundle: WorkflowBundleWithSourceMap,
  histories: NamedHistory[],
): Promise<{ name: string; error: string }[]> {
  const named = histories.map(({ name, history }) => ({ workflowId: name, history }))
  quietRuntime()
  const differing: { name: string; error: string }[] = []
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, named)) {
    if (error) differing.push({ name: workflowId, error: error.message })
  }
  return differing
}

/** All histories that were ever recorded. */
export async function readHistories(): Promise<NamedHistory[]> {
  const files = (await readdir(HISTORIES, { recursive: true })).filter((file) => file.endsWith('.json.gz')).toSorted()
  return Promise.all(
    files.map(async (file) => ({
      name: file.replace(/\.json\.gz$/, ''),
      history: fromJson(gunzipSync(await readFile(join(HISTORIES, file))).toString()),
    })),
  )
}

/** A folder for another recording. */
export async function newRecording(): Promise<string> {
  let n = 1
  while (existsSync(join(HISTORIES, `${n}`))) n++
  const folder = join(HISTORIES, `${n}`)
  await mkdir(folder, { recursive: true })
  return folder
}

export async function writeHistory(folder: string, { name, history }: NamedHistory): Promise<void> {
  await writeFile(join(folder, `${name}.json.gz`), gzipSync(toJson(history), { level: 9 }))
}

/** The process and the path of the code do not matter to a replay, so they are not recorded. */
function toJson(history: NamedHistory['history']): string {
  const value: unknown = History.toObject(History.fromObject(history), { longs: String, enums: String, bytes: String })
  return JSON.stringify(value, (key, inner: unknown) => (key === 'identity' || key === 'stackTrace' ? '' : inner))
}

function fromJson(json: string): NamedHistory['history'] {
  return History.fromObject(JSON.parse(json) as Record<string, unknown>)
}
