/**
 * The production server of Temporal as one process: start, namespaces, stop. Its specification is plain data, so tests
 * can pass it on.
 */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Connection } from '@temporalio/client'
import { msToTs, type StringValue } from '@temporalio/common/lib/time.js'
import { listensOn } from '../../src/dev/ports.ts'
import { endProcess, findProcesses, startDaemon, until } from '../../src/dev/processes.ts'
import { pingTemporal } from '../../src/dev/temporal-server.ts'

export interface TemporalSpec {
  /** The program. */
  server: string
  /** The configuration of the container image: a template over the environment. */
  config: string
  home: string
  environment: Record<string, string>
}

const READY_LIMIT_MS = 120_000

export function addressOf({ environment }: TemporalSpec): string {
  return `127.0.0.1:${environment['FRONTEND_GRPC_PORT']}`
}

/** Resolves when it serves. Its databases must exist already. */
export async function startTemporalServer(spec: TemporalSpec): Promise<void> {
  const { home, environment: env } = spec
  const [address, log] = [addressOf(spec), join(home, 'temporal.log')]
  await copyFile(spec.config, join(home, 'docker.yaml'))
  const args = [...argumentsOf(spec), '--env', 'docker', '--allow-no-auth', 'start']
  const { id, ended, lastWords } = await startDaemon(spec.server, args, { log, env })
  const answers = async (): Promise<string | undefined> =>
    (await listensOn(id, Number(address.split(':')[1]))) ? pingTemporal(address, 'temporal-system') : undefined
  const version = await until(async () => ended() ?? answers(), READY_LIMIT_MS)
  if (version && !ended()) return
  const how = ended() ?? 'does not answer'
  await endProcess(id, 'SIGKILL')
  throw new Error(`Temporal ${how}:\n${await lastWords()}`)
}

export async function stopTemporalServer(
  spec: Pick<TemporalSpec, 'home'>,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  await Promise.all(findProcesses(argumentsOf(spec)).map((found) => endProcess(found, signal, 30_000)))
}

/** The text that tells this server from all others. */
function argumentsOf({ home }: Pick<TemporalSpec, 'home'>): string[] {
  return ['--root', home, '--config', '.']
}

/** Does what the auto-setup of the image does. Each service of the cluster reads it at its next refresh. */
export async function createNamespace(address: string, namespace: string, retention: string): Promise<void> {
  const connection = await Connection.connect({ address })
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(retention as StringValue),
    })
    const known = (): Promise<boolean> =>
      connection.operatorService.listSearchAttributes({ namespace }).then(
        () => true,
        () => false,
      )
    if (!(await until(known, READY_LIMIT_MS))) throw new Error(`namespace ${namespace} does not become usable`)
  } finally {
    await connection.close()
  }
}
