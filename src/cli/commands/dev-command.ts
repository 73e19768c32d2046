/** `stello dev` and `stello stop`: servers, a worker for each agent module, and one line for each thing that happens. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { Command } from 'commander'
import { StelloError } from '../../core/errors.ts'
import type { DevServers, DevServersOptions } from '../../dev/dev-servers.ts'
import type { StelloClient, StelloEvent } from '../../client/index.ts'
import { agentsHere } from '../serve/agents-here.ts'
import { openDevPage, type DevPage } from '../serve/dev-page.ts'
import { eventLine } from '../output/format.ts'
import { interrupted } from '../interrupted.ts'
import { createOutput, type Output } from '../output/output.ts'
import { METRICS_HOST, METRICS_PORT, port, type Metrics } from './worker-options.ts'
import type { ServedFile } from '../serve/served-file.ts'

interface DevOptions extends Omit<DevServersOptions, 'temporalPort'>, Metrics {
  port?: number
  pagePort?: number
  /** Default true: a save starts a new worker. */
  reload: boolean
}

export function addDevCommands(program: Command): void {
  const output = (): Output => createOutput(program.opts<{ json?: boolean }>().json === true)

  withServerOptions(program.command('dev [agents...]'))
    .description('run Temporal, PostgreSQL and a worker for each agent module (default: agent.ts), until Ctrl-C')
    .option('--no-reload', 'keep the worker when a file is saved')
    .option('--page-port <port>', 'of the page; default: a free one', port)
    .option(...METRICS_PORT)
    .option(...METRICS_HOST)
    .action((files: string[], options: DevOptions) => dev(files, options, output()))

  withServerOptions(program.command('server'))
    .description('run Temporal and PostgreSQL for development, until Ctrl-C')
    .action(async (options: DevOptions) => {
      const out = output()
      const stop = interrupted()
      const servers = await openServers(options, out, stop)
      ready(out, servers)
      await stop
      out.note('stopping the servers …')
      await servers.stop()
    })

  program
    .command('stop')
    .description('stop the development servers of this folder, and the `stello dev` that holds them')
    .action(async () => {
      const out = output()
      const { stopHolder } = await import('../../dev/stop-holder.ts')
      const stopped = await stopHolder()
      out.result({ stopped }, stopped ? 'stopped' : 'nothing runs for this folder')
    })
}

function withServerOptions(command: Command): Command {
  return command
    .option('--fresh', 'throw away what was kept in .stello')
    .option('--durable', 'survive a power cut too, more slowly')
    .option('--port <port>', 'of Temporal; default: a free one', port)
    .option('--ui-port <port>', 'of the Temporal UI; default: a free one', port)
}

async function dev(given: string[], options: DevOptions, out: Output): Promise<void> {
  const files = given.length > 0 ? given : agentsHere(process.cwd())
  const environment = { ...process.env }
  Object.assign(process.env, withSettings(environment))
  // A module that cannot be loaded is reported before anything is started.
  const { loadAgent } = await import('../serve/load-agent.ts')
  for (const file of files) await loadAgent(file)
  const stop = interrupted()
  const servers = await openServers(options, out, stop)
  const closing: (() => Promise<unknown>)[] = [() => servers.stop()]
  try {
    const served = await serveAll(files, servers, { ...options, environment, say: out.note })
    closing.unshift(() => Promise.all(served.map((one) => one.stop())))
    if (options.reload) closing.unshift(await reloadOnSave(files, served, out))
    const stello = await connectTo(servers)
    closing.unshift(() => stello.close())
    const page = await openDevPage(stello, servers, options.pagePort)
    closing.unshift(() => page.stop())
    ready(out, servers, { served, page })
    if (served.length > 0) closing.unshift(await showLines(stello, served, out))
    await stop
    out.note(served.length > 0 ? 'finishing what runs, then stopping the servers …' : 'stopping the servers …')
  } finally {
    for (const close of closing) await close()
  }
}

async function serveAll(
  files: readonly string[],
  servers: DevServers,
  { metricsPort, metricsHost, environment, say }: Metrics & { environment: NodeJS.ProcessEnv; say: Output['note'] },
): Promise<ServedFile[]> {
  const { serveFile } = await import('../serve/served-file.ts')
  const metrics = [
    ...(metricsPort === undefined ? [] : ['--metrics-port', String(metricsPort)]),
    ...(metricsHost === undefined ? [] : ['--metrics-host', metricsHost]),
  ]
  const env = (): NodeJS.ProcessEnv => ({
    ...withSettings(environment),
    TEMPORAL_ADDRESS: servers.temporal.address,
    TEMPORAL_NAMESPACE: servers.temporal.namespace,
    STELLO_DATABASE_URL: servers.postgres.url,
  })
  return Promise.all(
    files.map((file) =>
      serveFile({ file: resolve(file), options: metrics, env, say, alone: metricsPort !== undefined }),
    ),
  )
}

/** Adds the variables of `.env` in this folder, as it is now. Variables of the environment win. */
function withSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return existsSync('.env') ? { ...parseEnv(readFileSync('.env', 'utf8')), ...environment } : environment
}

async function reloadOnSave(
  files: readonly string[],
  served: readonly ServedFile[],
  out: Output,
): Promise<() => Promise<void>> {
  const { watchFiles } = await import('../serve/watch-files.ts')
  const looking = new AbortController()
  const folders = new Set([
    ...files.map((file) => dirname(resolve(file))),
    ...(files.length > 0 ? [process.cwd()] : []),
  ])
  const renew = (file: string): void => {
    out.note(`${relative('', file)} was saved`)
    for (const one of served) void one.renew()
  }
  await watchFiles([...folders], renew, looking.signal)
  return async () => looking.abort()
}

async function connectTo({ temporal, postgres }: DevServers): Promise<StelloClient> {
  const { connectStello } = await import('../../client/connect.ts')
  const { loadDataConverter } = await import('../serve/load-data-converter.ts')
  return connectStello({
    temporalAddress: temporal.address,
    namespace: temporal.namespace,
    databaseUrl: postgres.url,
    ...(await loadDataConverter()),
  })
}

async function showLines(
  stello: StelloClient,
  served: readonly ServedFile[],
  out: Output,
): Promise<() => Promise<void>> {
  const { watchAgents } = await import('../serve/session-lines.ts')
  const looking = new AbortController()
  const print = (event: StelloEvent): void => {
    if (out.json) return out.result(event, '')
    out.noteOf(event, (shown) => eventLine(shown) ?? '')
  }
  const watching = watchAgents(stello, () => served.map(({ agent }) => agent), { print, signal: looking.signal })
  return async () => {
    looking.abort()
    await watching
  }
}

/** Ctrl-C on a terminal also ends a program that is just being started. Its failure is not reported then. */
async function openServers(
  { port: temporalPort, ...options }: DevOptions,
  out: Output,
  stop: Promise<void>,
): Promise<DevServers> {
  const { openDevServers } = await import('../../dev/dev-servers.ts')
  const { fresh, durable, uiPort } = options
  const opening = openDevServers({
    ...(fresh && { fresh }),
    ...(durable && { durable }),
    ...(uiPort !== undefined && { uiPort }),
    ...(temporalPort !== undefined && { temporalPort }),
    onProgress: out.note,
  })
  return opening.catch((error: unknown) => Promise.race([stop.then(stopped), Promise.reject(error)]))
}

function stopped(): never {
  throw new StelloError(
    'SERVER_UNREACHABLE',
    'stopped while the servers were being started; what had been started is stopped again',
  )
}

function ready(
  out: Output,
  { temporal, postgres, home }: DevServers,
  { served = [], page }: { served?: readonly ServedFile[]; page?: DevPage } = {},
): void {
  const shown = postgres.url.replace(/:[^:@/]*@/, ':…@')
  const agents = served.map(({ agent }) => agent)
  out.result(
    { ready: true, temporal, home, agent: agents[0], agents, ...(page && { page: page.url }) },
    [
      ...(page ? [`page        ${page.url}`] : []),
      `Temporal    ${temporal.address} (${temporal.source})`,
      `Temporal UI ${temporal.uiUrl ?? 'unknown'}`,
      `PostgreSQL  ${shown}`,
      ...agents.map((agent) => `worker      serves "${agent}": stello chat ${agent}`),
      ...(agents.length > 0 ? [] : [`no agent    there is no agent.ts here: \`stello init agent.ts\` writes one`]),
      'Ctrl-C stops; the next start in this folder goes on where this one ended.',
    ].join('\n'),
  )
}
