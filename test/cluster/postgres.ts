/** PostgreSQL of the cluster, with the settings of docker-compose.yml. Its specification can be handed to tests. */
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

/** SIGKILL of the postmaster, as when memory runs out: its children follow. */
export async function killPostgresServer({ home }: PostgresSpec): Promise<void> {
  const running = await adoptPostgres(home, await postgresUser(), { bare: true })
  if (running?.process) await endProcess(running.process, 'SIGKILL')
}
