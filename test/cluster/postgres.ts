/**
 * The PostgreSQL of the cluster, with the settings of docker-compose.yml. Its specification is plain data, so tests can
 * pass it on.
 */
import { adoptPostgres, postgresUser, startPostgres, type PostgresInfo } from '../../src/dev/postgres-server.ts'
import { endProcess } from '../../src/dev/processes.ts'

export interface PostgresSpec {
  home: string
  /** `name=value` */
  settings: string[]
  port: number
}

export async function startPostgresServer(spec: PostgresSpec): Promise<PostgresInfo> {
  return startPostgres(await postgresUser(), { ...spec, bare: true, onProgress: () => undefined })
}

/** Sends SIGKILL to the postmaster, as the system does when memory runs out. Its children end with it. */
export async function killPostgresServer({ home }: PostgresSpec): Promise<void> {
  const running = await adoptPostgres(home, await postgresUser(), { bare: true })
  if (running?.process) await endProcess(running.process, 'SIGKILL')
}
