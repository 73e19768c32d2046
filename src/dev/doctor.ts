/** What `stello doctor` says: a finding per thing a session needs. Must never start or change anything. */
import { Connection } from '@temporalio/client'
import type { ConnectionOptions } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../agent/errors.ts'
import type { DevInfo } from './dev-info.ts'
import { loadDevInfo, resolveHome } from './dev-info.ts'
import { findTemporal } from './find-temporal.ts'
import { isListening } from './ports.ts'
import { pingPostgres } from './postgres-server.ts'
import { isAlive } from './processes.ts'
import { SEARCH_ATTRIBUTES, pingTemporal } from './temporal-server.ts'

export interface Finding {
  name: string
  ok: boolean
  detail: string
  /** What to do about it, when not ok. */
  hint?: string
}

export interface DiagnoseOptions {
  /** Asks the database for its schema version; passed in, because the schema belongs to the store. */
  schemaVersion?: (databaseUrl: string) => Promise<string>
}

/**
 * Looks at everything a session needs on this machine.
 *
 * @param home folder of the development servers; default `STELLO_HOME`, else `.stello`
 * @example
 * for (const { ok, name, detail } of await diagnose()) console.log(ok ? '✓' : '✗', name, detail)
 */
export async function diagnose(home?: string, options: DiagnoseOptions = {}): Promise<Finding[]> {
  const folder = await resolveHome(home)
  const info = await loadDevInfo(folder)
  const asked = [program(), temporal(info), database(info, options), ports(info), disk(folder)]
  return [node(), ...(await Promise.all<Finding | Finding[]>(asked)).flat()]
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return finding('Node', major > 20 || (major === 20 && minor >= 19), process.version, 'install Node 20.19 or later')
}

async function program(): Promise<Finding> {
  try {
    const { path, version, source } = await findTemporal({ install: false })
    return finding('Temporal program', true, `${version}, ${source}: ${path}`)
  } catch (error) {
    return finding(
      'Temporal program',
      Boolean(process.env['TEMPORAL_ADDRESS']),
      messageOf(error),
      '`stello dev` will get one',
    )
  }
}

async function temporal(info: DevInfo | undefined): Promise<Finding[]> {
  const { address, namespace, options, source } = temporalOf(info)
  if (!address) return [finding('Temporal', false, 'no TEMPORAL_ADDRESS, no development server', 'run `stello dev`')]
  const version = await pingTemporal(address, namespace, options)
  const where = `namespace ${namespace} on ${address} (${source})`
  if (!version)
    return [finding('Temporal', false, `${where} does not answer`, 'run `stello dev`, or check TEMPORAL_ADDRESS')]
  const tuned = info?.temporal.process && info.temporal.address === address
  const missing = await missingSearchAttributes(address, namespace, options).catch((error: unknown) => messageOf(error))
  return [
    finding('Temporal', true, `server ${version}, ${where}`),
    finding(
      'Search attributes',
      missing === '',
      missing === '' ? SEARCH_ATTRIBUTES.join(', ') : `not there: ${missing}`,
      `sessions run without them; temporal operator search-attribute create --type Keyword --name <name>`,
    ),
    finding(
      'Dynamic config',
      true,
      tuned
        ? 'set by us: poll rates raised, eager activities on'
        : 'a server does not tell its own: see the documentation for the values that make turns fast',
    ),
  ]
}

function temporalOf(info: DevInfo | undefined): {
  address: string | undefined
  namespace: string
  options: ConnectionOptions
  source: string
} {
  if (!process.env['TEMPORAL_ADDRESS'] && info) return { ...info.temporal, options: {} }
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
  return { address: connectionOptions.address, namespace, options: connectionOptions, source: 'TEMPORAL_ADDRESS' }
}

async function missingSearchAttributes(
  address: string,
  namespace: string,
  options: ConnectionOptions,
): Promise<string> {
  const connection = await Connection.connect({ ...options, address, connectTimeout: 3000 })
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
    return SEARCH_ATTRIBUTES.filter((name) => !(name in customAttributes)).join(', ')
  } finally {
    await connection.close()
  }
}

async function database(info: DevInfo | undefined, { schemaVersion }: DiagnoseOptions): Promise<Finding[]> {
  const url = process.env['STELLO_DATABASE_URL'] ?? info?.postgres.url
  if (!url) return [finding('PostgreSQL', false, 'no STELLO_DATABASE_URL, no development server', 'run `stello dev`')]
  const version = await pingPostgres(url)
  const where = describeUrl(url)
  if (!version)
    return [finding('PostgreSQL', false, `${where} does not answer`, 'run `stello dev`, or check STELLO_DATABASE_URL')]
  const server = finding('PostgreSQL', true, `version ${version}, ${where}`)
  if (!schemaVersion) return [server]
  const schema = await schemaVersion(url).then(
    (found) => finding('Schema', true, found),
    (error: unknown) => finding('Schema', false, messageOf(error), 'a worker that starts migrates it'),
  )
  return [server, schema]
}

/** Without the password: what doctor says is pasted into bug reports. */
function describeUrl(url: string): string {
  if (!URL.canParse(url)) return 'a URL that cannot be read'
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

async function ports(info: DevInfo | undefined): Promise<Finding[]> {
  const claims = [
    { name: 'Temporal', port: info?.temporal.port, server: info?.temporal.process },
    { name: "Temporal's UI", port: info?.temporal.uiPort, server: info?.temporal.process },
    { name: 'PostgreSQL', port: info?.postgres.port, server: info?.postgres.process },
  ]
  return Promise.all(
    claims
      .filter(({ port }) => port !== undefined)
      .map(async ({ name, port = 0, server }) => {
        const [listening, alive] = [await isListening(port), server !== undefined && isAlive(server)]
        const state = listening
          ? alive
            ? 'in use by our server'
            : 'in use by a stranger: the next start takes another'
          : 'free'
        return finding(`Port of ${name}`, listening === alive, `${port}, ${state}`, 'run `stello dev`')
      }),
  )
}

async function disk(home: string): Promise<Finding> {
  let folder = home
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = await statfs(folder)
  const gigabytes = (bavail * bsize) / 1e9
  return finding('Disk', gigabytes > 1, `${gigabytes.toFixed(1)} GB free for ${home}`, 'free at least 1 GB')
}

function finding(name: string, ok: boolean, detail: string, hint?: string): Finding {
  return ok || hint === undefined ? { name, ok, detail } : { name, ok, detail, hint }
}
