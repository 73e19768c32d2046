/** Finds the servers and opens a client on them. */
import { Client, Connection, type ClientOptions } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { StelloError, messageOf } from '../core/errors.ts'
import { demandLocal, loadDevInfo, resolveHome } from '../dev/dev-info.ts'
import { checkDatabase, openDatabase } from '../store/database/database.ts'
import { createListener } from '../store/database/listener.ts'
import { migrate, readSchema } from '../store/schema/migrate.ts'
import { searchableBy } from '../temporal/register-search-attributes.ts'
import { createStelloClient, type StelloClient } from './stello-client.ts'

/**
 * Where the servers are. A field that is left out comes from the environment, then from `stello dev` in this folder. All other
 * fields are options of Temporal's own client; `dataConverter` must be the same as the workers'.
 */
export interface ConnectOptions extends Pick<ClientOptions, 'dataConverter' | 'interceptors' | 'plugins'> {
  /** `host:port`. Default: `TEMPORAL_ADDRESS` and the other variables of Temporal, else the development servers. */
  temporalAddress?: string
  /** Temporal's namespace. Default: Temporal's configuration, else `default`. */
  namespace?: string
  /** Default: `STELLO_DATABASE_URL`, else the development servers. */
  databaseUrl?: string
  /** Folder of the development servers. Default: `STELLO_HOME`, else `.stello`. */
  home?: string
}

/** Where the servers are. */
export interface Servers {
  /** `host:port` of Temporal. */
  temporalAddress: string
  /** Temporal's namespace. */
  namespace: string
  /** The URL of PostgreSQL, with its password. */
  databaseUrl: string
  /** The address of Temporal's UI, where it is known. */
  uiUrl?: string
  /** TLS, API key and so on, as Temporal's environment configuration gives them. */
  connection: object
}

/** The hint when no setting says where a server is. */
const TO_FIND = 'start the development servers (`stello server` or `stello dev`) in this folder, or set the variable'

/** Where the settings say a server is. Unset: no setting says. */
export type Located = Omit<Servers, 'temporalAddress' | 'databaseUrl'> & {
  temporalAddress: string | undefined
  databaseUrl: string | undefined
}

/**
 * Reads the options, else the environment, else `.stello/dev.json`. @throws an error that names the broken
 * configuration file
 */
export async function locateServers(options: ConnectOptions = {}): Promise<Located> {
  const { connectionOptions, namespace } = loadClientConnectConfig()
  const { address: configured, ...connection } = connectionOptions
  const fromEnvironment = process.env['TEMPORAL_ADDRESS'] ?? configured
  const given = {
    temporal: options.temporalAddress ?? fromEnvironment,
    database: options.databaseUrl ?? process.env['STELLO_DATABASE_URL'],
  }
  const loading = loadDevInfo(await resolveHome(options.home))
  // A broken dev.json must not matter when it is not needed.
  const dev = await (given.temporal && given.database ? loading.catch(() => undefined) : loading)
  const temporalAddress = given.temporal ?? (dev && demandLocal(dev.temporal.address))
  const databaseUrl = given.database ?? (dev && demandLocal(dev.postgres.url))
  const uiUrl = dev?.temporal.address === temporalAddress ? dev?.temporal.uiUrl : undefined
  return {
    temporalAddress,
    databaseUrl,
    namespace: options.namespace ?? namespace ?? 'default',
    connection,
    ...(uiUrl !== undefined && { uiUrl }),
  }
}

/**
 * Finds the servers: by the options, else by the environment, else by `.stello/dev.json`.
 *
 * @throws StelloError SERVER_UNREACHABLE, DATABASE_UNREACHABLE when no setting says where a server is; INVALID_ARGUMENT
 *   when dev.json belongs to another user, or names another machine
 * @example const { temporalAddress, databaseUrl } = await findServers()
 */
export async function findServers(options: ConnectOptions = {}): Promise<Servers> {
  const { temporalAddress, databaseUrl, ...more } = await locateServers(options)
  if (!temporalAddress)
    throw new StelloError(
      'SERVER_UNREACHABLE',
      'no Temporal server: TEMPORAL_ADDRESS is not set and there is no .stello/dev.json here',
      { hint: TO_FIND },
    )
  if (!databaseUrl)
    throw new StelloError(
      'DATABASE_UNREACHABLE',
      'no database: STELLO_DATABASE_URL is not set and there is no .stello/dev.json here',
      { hint: TO_FIND },
    )
  return { temporalAddress, databaseUrl, ...more }
}

/**
 * Opens a client. It finds the servers itself (see `findServers`).
 *
 * @throws StelloError SERVER_UNREACHABLE, DATABASE_UNREACHABLE
 * @example
 * const stello = await connectStello()
 * const session = await stello.createSession({ agent: 'research', label: 'tea' })
 * const turn = await session.send('What is in the documents?')
 * console.log((await turn.result()).text)
 * await stello.close()
 */
export async function connectStello(options: ConnectOptions = {}): Promise<StelloClient> {
  const servers = await findServers(options)
  const db = openDatabase(servers.databaseUrl)
  try {
    await checkDatabase(db)
    // A client never updates an older schema: workers of the previous version may still run on it.
    const schema = await readSchema(db)
    if (schema.newest === undefined || schema.unknown.length > 0) await migrate(db)
    const connection = await connect(servers)
    const { dataConverter, interceptors, plugins } = options
    const client = new Client({
      connection,
      namespace: servers.namespace,
      ...(dataConverter && { dataConverter }),
      ...(interceptors && { interceptors }),
      ...(plugins && { plugins }),
    })
    return createStelloClient({
      client,
      db,
      listener: createListener(servers.databaseUrl),
      searchable: searchableBy(client),
      ...(servers.uiUrl !== undefined && { uiUrl: servers.uiUrl }),
      namespace: servers.namespace,
    })
  } catch (error) {
    await db.close()
    throw error
  }
}

async function connect({ temporalAddress, connection }: Servers): Promise<Connection> {
  try {
    return await Connection.connect({ address: temporalAddress, connectTimeout: '5s', ...connection })
  } catch (error) {
    throw new StelloError('SERVER_UNREACHABLE', `Temporal at ${temporalAddress} does not answer: ${messageOf(error)}`, {
      hint: 'start it (`stello server` brings one), or correct TEMPORAL_ADDRESS',
      cause: error,
    })
  }
}
