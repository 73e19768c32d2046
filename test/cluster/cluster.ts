/**
 * The topology of docker-compose.yml as plain processes: one PostgreSQL for everybody, and on it the production server
 * of Temporal with its four services and several shards. The settings come from docker-compose.yml and
 * deploy/dynamicconfig.yaml.
 */
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { stringify } from 'yaml'
import { startOnPorts } from '../../src/dev/ports.ts'
import { removePostgres } from '../../src/dev/postgres-cluster.ts'
import { postgresUser, stopPostgres } from '../../src/dev/postgres-server.ts'
import { quietPort } from '../support/quiet-port.ts'
import { readCompose, type Compose } from './compose.ts'
import { startPostgresServer, type PostgresSpec } from './postgres.ts'
import { findClusterPrograms, type ClusterPrograms } from './programs.ts'
import { addressOf, createNamespace, startTemporalServer, stopTemporalServer, type TemporalSpec } from './temporal.ts'

const run = promisify(execFile)
const ROLES = fileURLToPath(new URL('../../deploy/roles.sql', import.meta.url))
const DYNAMIC_CONFIG = fileURLToPath(new URL('../../deploy/dynamicconfig.yaml', import.meta.url))

/**
 * Characters that have a meaning in URLs, shells or YAML. A space is left out: Temporal writes it as `+` into a URL.
 */
export const PASSWORD = "s3cret@:/?#[]%&+='"
/** The variables that `.env` would hold. */
export const VARIABLES: Record<string, string> = {
  POSTGRES_PASSWORD: 'of the superuser',
  STELLO_PASSWORD: PASSWORD,
  TEMPORAL_PASSWORD: PASSWORD,
}

export interface ClusterOptions {
  /** A folder that the user of PostgreSQL can enter. */
  home: string
  /** Namespaces beside `default`, each with a dynamic configuration of its own. */
  namespaces: Record<string, Record<string, number>>
  onProgress: (line: string) => void
}

export interface Cluster {
  temporal: TemporalSpec
  postgres: PostgresSpec
  databaseUrl: string
  stop(): Promise<void>
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { home, onProgress } = options
  const compose = await readCompose(VARIABLES)
  const version = compose.temporal.image?.split(':')[1] ?? ''
  const programs = await findClusterPrograms(version, onProgress)
  await mkdir(home, { recursive: true })
  await chmod(home, 0o755)
  onProgress('starting PostgreSQL')
  const settings = settingsOf(compose)
  const port = await quietPort()
  const { url } = await startPostgresServer({ home, settings, port })
  const environment = await environmentOf(compose, String(port), options)
  const stop = async (): Promise<void> => {
    await stopTemporalServer({ home })
    const runAs = await postgresUser()
    await stopPostgres(home, runAs)
    await removePostgres(home, runAs)
    await rm(home, { recursive: true, force: true })
  }
  try {
    const databaseUrl = await createRoles(url)
    onProgress(`creating Temporal's databases with the schema of ${version}`)
    await createSchema(programs, environment)
    onProgress(`starting the production server of Temporal ${version}, ${environment['NUM_HISTORY_SHARDS']} shards`)
    const temporal = await startOnPorts(async () => {
      const spec: TemporalSpec = { ...programs, home, environment: { ...environment, ...(await ports()) } }
      await startTemporalServer(spec)
      return spec
    })
    for (const name of ['default', ...Object.keys(options.namespaces)])
      await createNamespace(addressOf(temporal), name, environment['DEFAULT_NAMESPACE_RETENTION'] ?? '24h')
    return { temporal, postgres: { home, settings, port }, databaseUrl, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * The environment that docker-compose.yml gives the server. Only names and ports of the container network are replaced
 * by those of this machine.
 */
async function environmentOf(
  { temporal }: Compose,
  postgresPort: string,
  { home, namespaces }: ClusterOptions,
): Promise<Record<string, string>> {
  return {
    ...temporal.environment,
    POSTGRES_SEEDS: '127.0.0.1',
    DB_PORT: postgresPort,
    VISIBILITY_DB_PORT: postgresPort,
    BIND_ON_IP: '127.0.0.1',
    TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
    DYNAMIC_CONFIG_FILE_PATH: await writeDynamicConfig(home, namespaces),
    LOG_LEVEL: 'error',
  }
}

/** `postgres -c name=value …` */
function settingsOf({ postgres: { command = [] } }: Compose): string[] {
  return command.filter((argument) => argument.includes('='))
}

/**
 * Does what the entry point of the image does with deploy/roles.sql. The tests create databases, so they use the
 * superuser.
 */
async function createRoles(superuser: string): Promise<string> {
  const passwords: Record<string, string> = { stello_password: PASSWORD, temporal_password: PASSWORD }
  const statements = (await readFile(ROLES, 'utf8')).split('\n').filter((line) => /^[a-z]/.test(line))
  const client = new pg.Client({ connectionString: superuser })
  await client.connect()
  for (const statement of statements)
    await client.query(statement.replace(/:'(\w+)'/, (_, name: string) => client.escapeLiteral(passwords[name] ?? '')))
  await client.end()
  return Object.assign(new URL(superuser), { pathname: '/stello' }).href
}

/** deploy/dynamicconfig.yaml as it is. The settings of a namespace are added for that namespace only. */
async function writeDynamicConfig(home: string, namespaces: ClusterOptions['namespaces']): Promise<string> {
  const path = join(home, 'dynamicconfig.yaml')
  await copyFile(DYNAMIC_CONFIG, path)
  for (const [namespace, settings] of Object.entries(namespaces)) {
    const constrained = Object.entries(settings).map(([key, value]) => [key, [{ value, constraints: { namespace } }]])
    await writeFile(path, `\n${stringify(Object.fromEntries(constrained))}`, { flag: 'a' })
  }
  return path
}

/** All services of one machine in one process, as in the image, each with ports of its own. */
async function ports(): Promise<Record<string, string>> {
  const names = ['FRONTEND_HTTP_PORT']
  for (const service of ['FRONTEND', 'MATCHING', 'HISTORY', 'WORKER'])
    names.push(`${service}_GRPC_PORT`, `${service}_MEMBERSHIP_PORT`)
  const chosen = new Set<number>()
  while (chosen.size < names.length + 1) chosen.add(await quietPort())
  const [metrics, ...others] = chosen
  const environment = others.map((port, index) => [names[index], String(port)])
  return { PROMETHEUS_ENDPOINT: `127.0.0.1:${metrics}`, ...Object.fromEntries(environment) }
}

/** Does what the auto-setup of the image does. */
async function createSchema({ sqlTool, schema }: ClusterPrograms, environment: Record<string, string>): Promise<void> {
  for (const [database, folder] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    const env = {
      ...process.env,
      SQL_PLUGIN: environment['DB'],
      SQL_HOST: environment['POSTGRES_SEEDS'],
      SQL_PORT: environment['DB_PORT'],
      SQL_USER: environment['POSTGRES_USER'],
      SQL_PASSWORD: environment['POSTGRES_PWD'],
      SQL_DATABASE: database,
    }
    if (environment['SKIP_DB_CREATE'] !== 'true') await run(sqlTool, ['create-database'], { env })
    await run(sqlTool, ['setup-schema', '-v', '0.0'], { env })
    await run(sqlTool, ['update-schema', '-d', join(schema, folder, 'versioned')], { env })
  }
}
