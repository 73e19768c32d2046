/** The commands that run a worker, and those that help to set it up. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { InvalidArgumentError, type Command } from 'commander'
import type { StelloAgent } from '../../agent/agent.ts'
import { StelloError } from '../../core/errors.ts'
import type { Concurrency, StelloWorker, StelloWorkerOptions, WorkerLog } from '../../worker.ts'
import { AGENT_TEMPLATE } from '../create/agent-template.ts'
import { loadDataConverter } from '../serve/load-data-converter.ts'
import { interrupted } from '../interrupted.ts'
import { createOutput, type Output } from '../output/output.ts'
import { METRICS_HOST, METRICS_PORT, port, type Metrics } from './worker-options.ts'

export function addRunCommands(program: Command): void {
  const output = (): Output => createOutput(program.opts<{ json?: boolean }>().json === true)

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
      const { findServers } = await import('../../client/connect.ts')
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
      await Promise.race([interrupted(), parentGone(), worker.stopped])
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
    .command('create <name>')
    .description('write a new package: an agent, a test that runs, and what belongs beside them')
    .action(async (name: string) => {
      const { createProject } = await import('../create/create-project.ts')
      const files = await createProject(name)
      output().result({ folder: name, files }, `wrote ${files.join(', ')}; now: cd ${name} && npm install && npm test`)
    })

  program
    .command('health')
    .description('ask a worker process of this machine whether it can work')
    .option('--port <port>', 'the metrics port of the process', port, 9464)
    .action(async ({ port: at }: { port: number }) => {
      const out = output()
      const { askHealth } = await import('../serve/ask-health.ts')
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
      const { findServers } = await import('../../client/connect.ts')
      const { migrateStore } = await import('../../client/migrate-store.ts')
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
      const { diagnose } = await import('../../doctor/diagnose.ts')
      const { inspectServers } = await import('../../doctor/inspect-servers.ts')
      const findings = [...(await diagnose()), ...(await inspectServers())]
      for (const finding of findings) {
        const mark = finding.ok ? (finding.warning ? '!' : '✓') : '✗'
        const hint = finding.hint === undefined ? '' : `\n    ${finding.hint}`
        out.result(finding, `${mark} ${finding.name}: ${finding.detail}${hint}`)
      }
      if (findings.some((finding) => !finding.ok)) process.exitCode = 1
    })
}

/** Resolves when the process that has started this one as its child is gone. A worker from a terminal has none. */
function parentGone(): Promise<void> {
  return new Promise((resolve) => process.once('disconnect', resolve))
}

type Settings = Metrics & Pick<StelloWorkerOptions, 'concurrency' | 'migrate'>
type WorkerTarget = Pick<StelloWorkerOptions, 'databaseUrl' | 'temporalAddress' | 'namespace' | 'connection'> & Settings

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
  const { loadAgent } = await import('../serve/load-agent.ts')
  return loadAgent(file)
}

async function startWorkerOn(agent: StelloAgent, target: WorkerTarget, out: Output): Promise<StelloWorker> {
  const { startWorker } = await import('../../worker.ts')
  const log: WorkerLog = { info: (message) => out.note(message), warn: (message) => out.note(`warning: ${message}`) }
  return startWorker({ agent, ...target, ...(await loadDataConverter()), log })
}
