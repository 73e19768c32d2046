/**
 * docker-compose.yml and deploy/dynamicconfig.yaml, line by line, on the servers that they describe. Only the
 * containers are missing.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { tsToMs } from '@temporalio/common/lib/time.js'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import ms from 'ms'
import { findTemporal } from '../../src/dev/find-temporal.ts'
import { startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'
import { newFolder, start, stello, stelloJson } from '../cli/command.ts'
import { useStello } from '../support/session-fixture.ts'
import { quietPort } from '../support/quiet-port.ts'
import { VARIABLES } from './cluster.ts'
import { readCompose, type Compose } from './compose.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const AGENT = join(ROOT, 'test/cli/agent.ts')
const { server, environment } = inject('clusterTemporal')
const fixture = useStello()
let model: FakeOpenAI
let compose: Compose

beforeAll(async () => {
  model = await startFakeOpenAI({ script: () => 'from the model', apiKey: 'right' })
  compose = await readCompose({
    ...VARIABLES,
    OPENAI_API_KEY: 'right',
    OPENAI_BASE_URL: model.url,
  })
})
afterAll(() => model.close())

describe('the server', () => {
  it('has the version that the image names', async () => {
    const { stdout } = await run(server, ['--version'])
    expect(compose.temporal.image).toBe(`temporalio/auto-setup:${stdout.trim().split(' ').at(-1)}`)
  })

  it('knows every setting of deploy/dynamicconfig.yaml, and its type', async () => {
    const file = join(ROOT, 'deploy/dynamicconfig.yaml')
    const { stdout } = await run(server, ['validate-dynamic-config', file])
    expect(stdout.trim()).toBe(file)
  })

  it('keeps closed sessions as long as the file says', async () => {
    const { workflowService } = fixture.client.temporal
    const { config } = await workflowService.describeNamespace({ namespace: 'default' })
    const retention = config?.workflowExecutionRetentionTtl
    expect(retention && tsToMs(retention)).toBe(ms(compose.temporal.environment['DEFAULT_NAMESPACE_RETENTION'] as '1h'))
  })

  it('serves its metrics where PROMETHEUS_ENDPOINT says', async () => {
    const response = await fetch(`http://${environment['PROMETHEUS_ENDPOINT']}/metrics`)
    expect(await response.text()).toMatch(/^service_requests\{/m)
  })

  it.each([
    ['default', 0],
    ['not-made-yet', 1],
  ])('is healthy only if its namespace exists: %s', async (namespace, code) => {
    const [, command = ''] = compose.temporal.healthcheck?.test ?? []
    const check = command
      .replace('$(hostname -i):7233', inject('temporalAddress'))
      .replace('--namespace default', `--namespace ${namespace}`)
    const { path } = await findTemporal()
    const env = { ...process.env, PATH: `${dirname(path)}:${process.env['PATH']}` }
    const checked = await run('/bin/sh', ['-c', check], { env }).then(
      () => ({ code: 0 }),
      (error: { code: number }) => error,
    )
    expect(checked.code).toBe(code)
  })
})

describe('a worker', () => {
  /**
   * The variables of the service. Only the names of the container network are replaced by addresses of this machine.
   */
  const environmentOf = async (): Promise<Record<string, string>> => {
    const { host } = new URL(inject('databaseUrl'))
    const { TEMPORAL_ADDRESS: _, STELLO_DATABASE_URL: url = '', ...rest } = compose.worker.environment
    return {
      ...rest,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      STELLO_DATABASE_URL: url.replace('postgres:5432', host),
      STELLO_HOME: join(await newFolder(), '.stello'),
      TEST_AGENT: 'deployed',
    }
  }

  it('has in its environment all that it needs to serve, is healthy, and stops within its grace period', async () => {
    const env = await environmentOf()
    const port = String(await quietPort())
    const ofImage = await readFile(join(ROOT, 'Dockerfile'), 'utf8')
    const commandOf = (line: RegExp): string[] =>
      (JSON.parse(`[${line.exec(ofImage)?.[1]}]`) as string[]).map((word) => word.replace('9464', port))
    const [, , , ...served] = commandOf(/^CMD \[(.*)\]$/m)
    const worker = start(['worker', AGENT, '--json', ...served], { env })
    expect(await worker.line()).toMatchObject({ ready: true, agent: 'deployed' })
    const [answer] = await stelloJson(['start', 'deployed', '--message', 'hello', '--wait'], { env })
    expect(answer).toMatchObject({ text: 'from the model' })

    const [program, ...check] = commandOf(/^HEALTHCHECK .*CMD \[(.*)\]$/m)
    expect(program).toBe('stello')
    expect(await stello(check, { env })).toMatchObject({ code: 0, stdout: 'ready\n' })

    const { release } = model.hold()
    const asked = model.requests.length
    const [session] = await stelloJson<{ sessionId: string }>(['start', 'deployed', '--message', 'again'], { env })
    await model.requested(asked + 1)
    const began = performance.now()
    worker.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0, signal: null })
    expect(performance.now() - began).toBeLessThan(ms(compose.worker.stop_grace_period as '1s'))
    expect((await stello(check, { env })).code).toBe(1)
    release()
    const next = start(['worker', AGENT, '--json'], { env })
    await next.line()
    const watched = start(['watch', session?.sessionId ?? '', '--json'], { env })
    await watched.printed('turn.completed')
    watched.kill('SIGINT')
    next.kill('SIGTERM')
    expect((await next.ended).code).toBe(0)
  })
})

describe('PostgreSQL', () => {
  it('gives the store and Temporal a role each, which is no superuser and cannot connect to the database of the other', async () => {
    const rights = await query(
      `select rolname as name, rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as mighty
       from pg_roles where rolname in ('stello', 'temporal') order by 1`,
    )
    expect(rights).toEqual([
      { name: 'stello', mighty: false },
      { name: 'temporal', mighty: false },
    ])
    const allowed = await query(
      `select r.rolname as role, d.datname as database from pg_roles r, pg_database d
       where r.rolname in ('stello', 'temporal') and has_database_privilege(r.oid, d.oid, 'connect')
       and d.datname in ('stello', 'temporal', 'temporal_visibility', 'postgres') order by 1, 2`,
    )
    expect(allowed).toEqual([
      { role: 'stello', database: 'stello' },
      { role: 'temporal', database: 'temporal' },
      { role: 'temporal', database: 'temporal_visibility' },
    ])
    expect(new URL(compose.worker.environment['STELLO_DATABASE_URL'] ?? '').username).toBe('stello')
    expect(environment['POSTGRES_USER']).toBe('temporal')
  })

  it('has room for all connections that Temporal, two workers and clients may open', async () => {
    const rows = await query(`select current_setting('max_connections')::int as most`)
    const services = 4
    const ofTemporal =
      services * (Number(environment['SQL_MAX_CONNS'] ?? 20) + Number(environment['SQL_VIS_MAX_CONNS'] ?? 10))
    const ofWorker = 2 * 20 + 1
    const ofClient = 2 * 10 + 1
    expect(rows[0]?.['most']).toBeGreaterThanOrEqual(ofTemporal + 2 * ofWorker + 4 * ofClient)
  })
})

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') })
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(sql)
  await client.end()
  return rows
}
