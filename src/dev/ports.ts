/** TCP ports of 127.0.0.1, the only address a development server listens on. */
import { connect, createServer } from 'node:net'
import { StelloError } from '../agent/errors.ts'

/** Whether something accepts connections there, asked by a real connection. */
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
 * The port a server shall have: the one asked for, else last time's when it is free, else any free one.
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
