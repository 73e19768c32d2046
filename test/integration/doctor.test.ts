/** What `stello doctor` says about servers and sessions: the cause, and what to do. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type TlsOptions } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { inspectServers } from '../../src/client/doctor.ts'
import { inspectTemporal } from '../../src/client/doctor-temporal.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { useStello } from '../support/session-fixture.ts'
import { startTemporalWith } from '../support/temporal.ts'

/** A Temporal of its own, because this store does not know the sessions of other tests. */
const stello = useStello(() => startTemporalWith([]))
const closing: (() => Promise<unknown> | void)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})
type Changes = Parameters<typeof inspectServers>[0]
const findings = (changes: Changes = {}) => inspectServers({ ...stello.servers, ...changes })
const finding = async (name: string, changes?: Changes) =>
  (await findings(changes)).find((each) => each.name === name) ?? { name, ok: undefined }
const changed = (change: Partial<URL>): Changes => ({
  databaseUrl: Object.assign(new URL(stello.servers.databaseUrl), change).href,
})
const saying = (words: string, hint: string) => ({
  ok: false,
  detail: expect.stringContaining(words),
  hint: expect.stringContaining(hint),
})

describe('PostgreSQL', () => {
  it.each([
    ['a wrong password', { password: 'wrong' }, 'the password is wrong', 'PGPASSWORD'],
    ['another database', { pathname: '/nowhere' }, 'there is no such database', 'createdb'],
    ['a port where nobody listens', { port: '1' }, 'PostgreSQL does not answer', 'STELLO_DATABASE_URL'],
    ['TLS that it does not speak', { search: '?sslmode=require' }, 'does not speak TLS', 'sslmode'],
  ])('is told from %s, without the password', async (_what, change, words, hint) => {
    const found = await finding('PostgreSQL', changed(change))
    expect(found).toMatchObject(saying(words, hint))
    expect(JSON.stringify(found)).not.toContain(new URL(stello.servers.databaseUrl).password)
  })

  it('names the limit of connections, and the tables that the user may not use', async () => {
    const run = (sql: string) => stello.db.pool.query(sql)
    await run(`create role "doctor-test" login password 'known' connection limit 0`)
    closing.push(() => run('drop owned by "doctor-test"; drop role "doctor-test"'))
    const user = changed({ username: 'doctor-test', password: 'known' })
    expect(await finding('PostgreSQL', user)).toMatchObject(saying('has no connection left', 'max_connections'))
    await run('alter role "doctor-test" connection limit 20')
    await run('grant select on all tables in schema public to "doctor-test"')
    expect(await finding('Permission', user)).toMatchObject(saying('sessions', 'grant'))
    expect(await finding('Connections', user)).toMatchObject({ ok: true, warning: true })
  })

  it('reports the schema of a newer version as an error, unless this version can work with it', async () => {
    const run = (sql: string) => stello.db.pool.query(sql)
    expect(await finding('Schema')).toMatchObject({ ok: true })
    await run(`insert into migrations (name) values ('9999_future')`)
    expect(await finding('Schema')).toMatchObject({ ok: true, detail: expect.stringContaining('newer version') })
    await run(`update compatibility set oldest = '9999_future'`)
    expect(await finding('Schema')).toMatchObject(saying('newer version', 'update stello-temporal'))
    await run(`update compatibility set oldest = '0001_awaits'; delete from migrations where name = '9999_future'`)
  })
})

describe('Temporal', () => {
  it('is told from an address where nobody listens, and from an unknown namespace', async () => {
    const refused = saying('Temporal does not answer', 'TEMPORAL_ADDRESS')
    expect(await finding('Temporal', { temporalAddress: '127.0.0.1:1' })).toMatchObject(refused)
    const unknown = saying('does not know the namespace', 'TEMPORAL_NAMESPACE')
    expect(await finding('Temporal', { namespace: 'no-such' })).toMatchObject(unknown)
  })

  it('warns of missing search attributes, in a namespace that has none', async () => {
    const namespace = `bare-${process.pid}`
    const { connection } = stello.client.temporal
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    })
    await expect
      .poll(() => finding('Search attributes', { namespace }), { timeout: 20_000 })
      .toMatchObject({ ok: true, warning: true, detail: expect.stringContaining('StelloRoot') })
  })

  it('is told from certificates: an unknown CA, a client without a certificate, a server without TLS', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stello-doctor-'))
    closing.push(() => rm(folder, { recursive: true }))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const asked = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
    const named = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert]
    await promisify(execFile)('openssl', [...asked, ...named])
    const pem = { key: await readFile(key), cert: await readFile(cert) }
    const listen = async (options: TlsOptions): Promise<string> => {
      const server = createServer({ ...pem, ALPNProtocols: ['h2'], ...options }).listen(0, '127.0.0.1')
      server.on('tlsClientError', () => undefined)
      closing.push(() => void server.close())
      await once(server, 'listening')
      return `localhost:${(server.address() as AddressInfo).port}`
    }
    const look = async (temporalAddress: string, tls: object) => {
      const located = { temporalAddress, databaseUrl: undefined, namespace: 'default', connection: { tls } }
      return (await inspectTemporal(located)).findings[0]
    }
    expect(await look(await listen({}), {})).toMatchObject(saying('a CA that is unknown', 'SERVER_CA_CERT_PATH'))
    const strict = await listen({ requestCert: true, rejectUnauthorized: true, ca: pem.cert })
    const trusting = { serverRootCACertificate: pem.cert }
    expect(await look(strict, trusting)).toMatchObject(saying('', 'CLIENT_CERT_PATH'))
    const plain = await look(stello.servers.temporalAddress, {})
    expect(plain).toMatchObject(saying('does not speak TLS', 'TEMPORAL_TLS'))
  })
})

describe('sessions', () => {
  it('that nobody serves, that have lost their workflow, and workflows without a session are reported', async () => {
    const { taskQueue: agent } = await stello.work({ llm: scriptedModel([]) })
    await stello.client.createSession({ agent })
    expect(await finding('Sessions')).toMatchObject({ ok: true, detail: expect.stringContaining('1 open') })
    await expect.poll(() => finding(`Agent ${agent}`)).toMatchObject({ ok: true })

    const waiting = await stello.client.createSession({ agent: 'nobody-here' })
    expect(await finding('Agent nobody-here')).toMatchObject(saying('no worker polls', 'stello worker'))

    const { workflow } = stello.client.temporal
    const stranger = await workflow.start('session', { workflowId: 'a-stranger', taskQueue: 'none', args: [] })
    await expect
      .poll(() => finding('Sessions'), { timeout: 20_000 })
      .toMatchObject({ ok: true, warning: true, detail: expect.stringContaining('a-stranger') })
    await workflow.getHandle(waiting.id).terminate()
    await expect
      .poll(() => finding('Sessions'), { timeout: 20_000 })
      .toMatchObject(saying(waiting.id, 'stello recover --all'))
    await stranger.terminate()
  })
})
