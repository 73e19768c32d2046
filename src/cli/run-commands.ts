/** The commands that run something: development servers, a worker, and the commands that help to set them up. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { InvalidArgumentError, type Command } from 'commander'
import type { StelloAgent } from '../agent/agent.ts'
import { StelloError } from '../core/errors.ts'
import type { DevServers, DevServersOptions } from '../dev/dev-servers.ts'
import type { Concurrency, StelloWorker, StelloWorkerOptions, WorkerLog } from '../worker.ts'
import { AGENT_TEMPLATE } from './agent-template.ts'
import { loadDataConverter } from './load-data-converter.ts'
import { interrupted } from './interrupted.ts'
import { createOutput, type Output } from './output.ts'

export function addRunCommands(program: Command): void {
  const output = (): Output => createOutput(program.opts<{ json?: boolean }>().json === true)

  program
    .command('dev [agent]')
    .description('run Temporal, PostgreSQL and, with an agent module, a worker, until Ctrl-C')
    .option('--fresh', 'throw away what was kept in .stello')
    .option('--durable', 'survive a power cut too, more slowly')
    .option(...METRICS_PORT)
    .option(...METRICS_HOST)
    .action(async (file: string | undefined, { metricsPort, metricsHost, ...options }: DevServersOptions & Metrics) => {
      const out = output()
      const agent = file === undefined ? undefined : await load(file)
      const stop = interrupted()
      const servers = await openServers(options, out, stop)
      let worker: StelloWorker | undefined
      try {
        if (agent) {
          worker = await startWorkerOn(
            agent,
            {
              databaseUrl: servers.postgres.url,
              temporalAddress: servers.temporal.address,
              namespace: servers.temporal.namespace,
              ...(metricsPort !== undefined && { metricsPort }),
              ...(metricsHost !== undefined && { metricsHost }),
            },
            out,
          )
        }
        ready(out, servers, worker)
        await Promise.race([stop, ...(worker ? [worker.stopped] : [])])
        out.note(worker ? 'finishing what runs, then stopping the servers …' : 'stopping the servers …')
      } finally {
        await worker?.stop().catch(() => undefined)
        await servers.stop()
      }
    })

  program
    .command('server')
    .description('run Temporal and PostgreSQL for development, until Ctrl-C')
    .option('--fresh', 'throw away what was kept in .stello')
    .option('--durable', 'survive a power cut too, more slowly')
    .action(async (options: DevServersOptions) => {
      const out = output()
      const stop = interrupted()
      const servers = await openServers(options, out, stop)
      ready(out, servers)
      await stop
      out.note('stopping the servers …')
      await servers.stop()
    })

  program
    .command('worker <agent>')
    .description('serve an agent module, until Ctrl-C')
    .option(...METRICS_PORT)
    .option(...METRICS_HOST)
    .option('--concurrency <slots>', 'how many run at once, e.g. models=100,tools=200 (100 of each)', concurrency)
    .option('--no-migrate', "leave the store's schema as it is (see stello migrate)")
    .action(async (file: string, settings: Settings) => {
      const out = output()
      const agent = await load(file)
      const { findServers } = await import('../client/connect.ts')
      const { temporalAddress, databaseUrl, namespace, connection } = await findServers()
      const worker = await startWorkerOn(
        agent,
        { temporalAddress, databaseUrl, namespace, connection, ...settings },
        out,
      )
      out.result(
        { ready: true, agent: agent.name, temporal: temporalAddress },
        `worker for "${agent.name}" on ${temporalAddress}`,
      )
      await Promise.race([interrupted(), worker.stopped])
      out.note('finishing what runs …')
      await worker.stop()
    })

  program
    .command('init <file>')
    .description('write a small agent module to begin with')
    .action(async (file: string) => {
      if (existsSync(file))
        throw new StelloError('INVALID_ARGUMENT', `${file} exists already`, { hint: 'name another file' })
      await writeFile(file, AGENT_TEMPLATE, { flag: 'wx' })
      output().result({ file }, `wrote ${file}; now: stello dev ${file}`)
    })

  program
    .command('health')
    .description('ask a worker process of this machine whether it can work')
    .option('--port <port>', 'the metrics port of the process', port, 9464)
    .action(async ({ port: at }: { port: number }) => {
      const out = output()
      const { askHealth } = await import('./ask-health.ts')
      const { ok, workers } = await askHealth(at)
      for (const { agent, problems } of workers) out.note(`${agent}: ${problems.join('; ') || 'ready'}`)
      out.result({ ok, workers }, ok ? 'ready' : 'not ready')
      if (!ok) process.exitCode = 1
    })

  program
    .command('migrate')
    .description("bring the store's schema up to date, as a worker does at its start")
    .action(async () => {
      const out = output()
      const { findServers } = await import('../client/connect.ts')
      const { migrateStore } = await import('../client/migrate-store.ts')
      const { databaseUrl } = await findServers({ temporalAddress: 'none is asked' })
      const { schema, ran, waiting } = await migrateStore(databaseUrl)
      out.result(
        { schema, ran, waiting },
        ran.length > 0 ? `schema ${schema}; ran ${ran.join(', ')}` : `schema ${schema}, nothing to do`,
      )
      for (const { index, why } of waiting) out.note(`index ${index} is not brought up to date: ${why}; try again`)
      if (waiting.length > 0) process.exitCode = 1
    })

  program
    .command('doctor')
    .description('check machine, servers and sessions: what is missing, and what to do')
    .action(async () => {
      const out = output()
      const { diagnose } = await import('../dev/doctor-machine.ts')
      const { inspectServers } = await import('../client/doctor.ts')
      const findings = [...(await diagnose()), ...(await inspectServers())]
      for (const finding of findings) {
        const mark = finding.ok ? (finding.warning ? '!' : '✓') : '✗'
        const hint = finding.hint === undefined ? '' : `\n    ${finding.hint}`
        out.result(finding, `${mark} ${finding.name}: ${finding.detail}${hint}`)
      }
      if (findings.some((finding) => !finding.ok)) process.exitCode = 1
    })
}

type Metrics = Pick<StelloWorkerOptions, 'metricsPort' | 'metricsHost'>
type Settings = Metrics & Pick<StelloWorkerOptions, 'concurrency' | 'migrate'>
type WorkerTarget = Pick<StelloWorkerOptions, 'databaseUrl' | 'temporalAddress' | 'namespace' | 'connection'> & Settings

const METRICS_PORT = ['--metrics-port <port>', 'serve Prometheus metrics of the worker there', port] as const
const METRICS_HOST = ['--metrics-host <address>', 'the address for that; default 127.0.0.1'] as const

function port(value: string): number {
  const parsed = Number(value)
  if (Number.isInteger(parsed) && parsed > 0 && parsed < 65536) return parsed
  throw new InvalidArgumentError('It must be a port, 1 to 65535.')
}

function concurrency(value: string): Concurrency {
  const slots: Concurrency = {}
  for (const one of value.split(',')) {
    const [, pool, count] = /^(models|tools)=([1-9]\d{0,4})$/.exec(one.trim()) ?? []
    if (!pool) throw new InvalidArgumentError('It must be like models=100,tools=200: one or both, 1 to 99999.')
    slots[pool as keyof Concurrency] = Number(count)
  }
  return slots
}

async function load(file: string): Promise<StelloAgent> {
  const { loadAgent } = await import('./load-agent.ts')
  return loadAgent(file)
}

/** Ctrl-C on a terminal also ends a program that is just being started. Its failure is not reported then. */
async function openServers(options: DevServersOptions, out: Output, stop: Promise<void>): Promise<DevServers> {
  const { openDevServers } = await import('../dev/dev-servers.ts')
  const opening = openDevServers({ ...options, onProgress: out.note })
  return opening.catch((error: unknown) => Promise.race([stop.then(stopped), Promise.reject(error)]))
}

function stopped(): never {
  throw new Error('stopped while the servers were being started; what had been started is stopped again')
}

async function startWorkerOn(agent: StelloAgent, target: WorkerTarget, out: Output): Promise<StelloWorker> {
  const { startWorker } = await import('../worker.ts')
  const log: WorkerLog = { info: (message) => out.note(message), warn: (message) => out.note(`warning: ${message}`) }
  return startWorker({ agent, ...target, ...(await loadDataConverter()), log })
}

function ready(out: Output, { temporal, postgres, home }: DevServers, worker?: StelloWorker): void {
  const shown = postgres.url.replace(/:[^:@/]*@/, ':…@')
  out.result(
    { ready: true, temporal, home, agent: worker?.taskQueue },
    [
      `Temporal    ${temporal.address} (${temporal.source})`,
      `Temporal UI ${temporal.uiUrl ?? 'unknown'}`,
      `PostgreSQL  ${shown}`,
      ...(worker
        ? [`worker      serves "${worker.taskQueue}": stello start ${worker.taskQueue} --message "…" --wait`]
        : []),
      'Ctrl-C stops; the next start in this folder goes on where this one ended.',
    ].join('\n'),
  )
}
