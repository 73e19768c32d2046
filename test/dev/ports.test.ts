/**
 * A port is chosen first, and a server binds it later. These tests show what happens when another program takes it in
 * between.
 */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTemporal, stopTemporal, type TemporalInfo } from '../../src/dev/temporal-server.ts'
import { openDevServers, type DevServers, type DevServersOptions } from '../../src/dev/dev-servers.ts'
import { findTemporal } from '../../src/dev/find-temporal.ts'
import { listensOn } from '../../src/dev/ports.ts'
import { self, startDaemon } from '../../src/dev/processes.ts'
import { quietPort } from '../support/quiet-port.ts'
import { newHome } from './homes.ts'

const takers: Server[] = []
afterEach(() => {
  for (const taker of takers.splice(0)) taker.close()
})

/**
 * Takes the first port that a line names and that fits. This happens between its choice and the start of the server.
 */
function taking(line: RegExp, onConnection: (socket: Socket) => void = (socket) => socket.destroy()) {
  const taken: number[] = []
  const onProgress = (told: string): void => {
    const port = Number(line.exec(told)?.[1])
    if (taken.length > 0 || !port) return
    taken.push(port)
    // Without a host, the port is bound when `listen` returns.
    takers.push(createServer(onConnection).listen(port))
  }
  return { taken, onProgress }
}

const SERVERS: [what: string, line: RegExp, ask: keyof DevServersOptions, portOf: (opened: DevServers) => unknown][] = [
  ['Temporal', /on port (\d+), UI/, 'temporalPort', ({ info }) => info.temporal.port],
  ["Temporal's UI", /UI on port (\d+)/, 'uiPort', ({ info }) => info.temporal.uiPort],
  ['PostgreSQL', /PostgreSQL on port (\d+)/, 'postgresPort', ({ info }) => info.postgres.port],
]

describe.each(SERVERS)('a port for %s that another takes before it is bound', (what, line, ask, portOf) => {
  it('is replaced by another port when it was our choice', async () => {
    const { taken, onProgress } = taking(line)
    const opened = await openDevServers({ home: await newHome(), onProgress })
    expect(taken).toHaveLength(1)
    expect(portOf(opened)).not.toBe(taken[0])
  })

  it('is named as taken when it was asked for', async () => {
    const { taken, onProgress } = taking(line)
    const port = await quietPort()
    await expect(openDevServers({ home: await newHome(), onProgress, [ask]: port })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: `port ${port}, asked for ${what}, is taken by another process`,
    })
    expect(taken).toEqual([port])
  })
})

describe('a Temporal', () => {
  let folder: string
  let home: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stello-ports-'))
    home = await newHome()
    await mkdir(home)
  })
  afterEach(async () => {
    await stopTemporal(home)
    await rm(folder, { recursive: true })
  })

  /** @param first shell commands that the program runs before it becomes Temporal */
  async function start(first: string, onProgress = (_line: string): void => undefined): Promise<TemporalInfo> {
    const { path, ...real } = await findTemporal()
    const program = join(folder, 'temporal')
    await rm(program, { force: true })
    const script = `rm "$0"; ln -s '${path}' "$0"; ${first}; exec "$0" "$@"`
    await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return startTemporal({ path: program, ...real }, { home, durable: false, onProgress })
  }

  it('of somebody else that answers on the port is not taken for ours', async () => {
    const other = (await openDevServers({ home: await newHome() })).info.temporal.port ?? 0
    const fifo = join(folder, 'go')
    execFileSync('mkfifo', [fifo])
    let looks = 0
    const { taken, onProgress } = taking(/on port (\d+), UI/, (socket) => {
      if (++looks === 10) void writeFile(fifo, '')
      const upstream = connect(other, '127.0.0.1')
      socket.pipe(upstream).pipe(socket)
      for (const side of [socket, upstream]) side.on('error', () => [socket, upstream].forEach((end) => end.destroy()))
    })
    const { port } = await start(`cat '${fifo}'`, onProgress)
    expect(taken).toHaveLength(1)
    expect(port).not.toBe(taken[0])
  })

  it('that panics because it loses its port is started again; any other panic is reported', async () => {
    const stack = 'goroutine 1 [running]:\\nmain.main()\\n\\t/main.go:1\\n'.repeat(10)
    const panic = (reason: string): string => `printf '${reason}\\npanic: nil pointer\\n\\n${stack}' >&2; exit 2`
    const lost = 'Failed to start gRPC listener: bind: address already in use'
    expect(await start(panic(lost))).toMatchObject({ namespace: 'default' })
    await stopTemporal(home)
    await expect(start(panic('out of luck'))).rejects.toThrow(
      'Temporal exited with code 2:\nout of luck\npanic: nil pointer',
    )
  })
})

it('knows the owner of a port, also when a wrapper has started the program', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stello-ports-'))
  const log = join(folder, 'log')
  const listen = `require("node:net").createServer().listen(0, "127.0.0.1", function () { console.log(this.address().port) })`
  const wrapped = await startDaemon('/bin/sh', ['-c', `'${process.execPath}' -e '${listen}'; true`], { log })
  try {
    await expect.poll(() => wrapped.lastWords(), { timeout: 30_000 }).toMatch(/^\d+$/)
    const port = Number(await wrapped.lastWords())
    expect([await listensOn(wrapped.id, port), await listensOn(self(), port)]).toEqual([true, false])
  } finally {
    // The wrapper and what it has started.
    process.kill(-wrapped.id.pid, 'SIGKILL')
    await rm(folder, { recursive: true })
  }
})
