/** A proxy between a worker and a server. With it, a test can cut off a process that lives on. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createGate, type Gate } from './gate.ts'

export interface TcpProxy {
  /** `host:port` */
  readonly address: string
  /** From now on, what the server sends is held back. What the worker sends passes. */
  hold(): void
  /** What was held back passes now, and all that follows. */
  release(): void
  /** Whether new connections are refused. Existing ones stay. */
  refuse(refused: boolean): void
  /** New connections are refused after that many more. */
  refuseAfter(admitted: number): void
  /** How many connections there are now. */
  connections(): number
  /** How many connections were refused so far. */
  refusals(): number
  /** Ends all connections that are there. */
  cut(): void
  close(): Promise<void>
}

/** A proxy in front of a server that has a URL. @returns also the URL that leads through it */
export async function startProxyBefore(url: string): Promise<{ proxy: TcpProxy; url: string }> {
  const through = new URL(url)
  const proxy = await startTcpProxy(through.host)
  through.host = proxy.address
  return { proxy, url: through.href }
}

/** @param target `host:port` */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const [host = '', port = ''] = target.split(':')
  const sockets = new Set<Socket>()
  let gate: Gate = createGate()
  gate.open()
  let admits = Infinity
  let refusals = 0
  const server = createServer((worker) => {
    if (admits-- <= 0) {
      refusals++
      return void worker.destroy()
    }
    const upstream = connect(Number(port), host)
    worker.pipe(upstream)
    let last = Promise.resolve()
    const inOrder = (work: () => void): void => void (last = last.then(() => gate.opened).then(work))
    upstream.on('data', (bytes) => inOrder(() => worker.write(bytes)))
    upstream.on('end', () => inOrder(() => worker.end()))
    for (const [socket, other] of [
      [worker, upstream],
      [upstream, worker],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  const cut = (): void => sockets.forEach((socket) => socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: () => void (gate = createGate()),
    release: () => gate.open(),
    refuse: (refused) => void (admits = refused ? 0 : Infinity),
    refuseAfter: (admitted) => void (admits = admitted),
    connections: () => sockets.size / 2,
    refusals: () => refusals,
    cut,
    async close() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
