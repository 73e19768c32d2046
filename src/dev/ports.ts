/**
 * TCP ports of 127.0.0.1, the only address a development server listens on.
 *
 * A port is free only until somebody binds it: between its choice and the start of a server another may take it.
 */
import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { messageOf, StelloError } from '../core/errors.ts'
import { ownerOf, socketsOf, type ProcessId } from './processes.ts'

const STARTS = 5
/** The words for a port in use, of servers in several languages. */
const TAKEN = /address already in use/i
/** A state in /proc/net/tcp. */
const LISTENING = '0A'

/** Whether something accepts connections there: tries a real connection. */
export function isListening(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host, timeout: 2000 })
    const done = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket
      .once('connect', () => done(true))
      .once('error', () => done(false))
      .once('timeout', () => done(false))
  })
}

/**
 * Whether this process, or one of its group, accepts connections there. If the system does not show its sockets, a
 * process of the same user is enough; outside Linux, any process is.
 */
export async function listensOn(server: ProcessId, port: number): Promise<boolean> {
  if (!(await isListening(port))) return false
  const sockets = socketsOf(server)
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => undefined)
  if (table === undefined) return true
  const address = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return table.split('\n').some((line) => {
    const [, local = '', , state, , , , uid, , inode = ''] = line.trim().split(/\s+/)
    if (!local.endsWith(address) || state !== LISTENING) return false
    return sockets ? sockets.has(inode) : Number(uid) === ownerOf(server.pid)
  })
}

/**
 * Runs `start`, which chooses ports and starts a server on them. It runs again if another process has taken a port
 * meanwhile. A port that was asked for is then refused by `choosePort`.
 */
export async function startOnPorts<T>(start: () => Promise<T>): Promise<T> {
  for (let starts = 1; ; starts++) {
    try {
      return await start()
    } catch (error) {
      if (starts === STARTS || !TAKEN.test(messageOf(error))) throw error
    }
  }
}

/**
 * Chooses the port of a server: the requested one, else the last one if it is free, else any free one.
 *
 * @throws StelloError `INVALID_ARGUMENT` when `asked` is taken.
 */
export async function choosePort(what: string, asked: number | undefined, last: number | undefined): Promise<number> {
  if (asked !== undefined) {
    if ((await bind(asked)) !== undefined) return asked
    throw new StelloError('INVALID_ARGUMENT', `port ${asked}, asked for ${what}, is taken by another process`, {
      hint: 'leave the port out to get a free one',
    })
  }
  const port = (last === undefined ? undefined : await bind(last)) ?? (await bind(0))
  if (port === undefined) throw new StelloError('SERVER_UNREACHABLE', `no free port on 127.0.0.1 for ${what}`)
  return port
}

function bind(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
    })
  })
}
