/** Temporal ends a question that no worker takes in more than one way. */
import { constants, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Client, Connection } from '@temporalio/client'
import { afterAll, expect, it } from 'vitest'
import { askServed } from '../../src/client/ask-served.ts'
import { reachSession } from '../../src/client/reach-session.ts'
import type { ClientDeps } from '../../src/client/client-deps.ts'
import { statsQuery } from '../../src/protocol/temporal-messages.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
/** Ends each call as Temporal's server may when its time is over: it resets the stream, and says no code. */
const server = createServer().on('stream', (stream) => stream.close(constants.NGHTTP2_CANCEL))
afterAll(() => server.close())

it('a question that Temporal breaks off when its time is over was waiting for a worker', async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const connection = Connection.lazy({ address: `127.0.0.1:${(server.address() as AddressInfo).port}` })
  const deps = { client: new Client({ connection }), db: at.db, namespace: 'default' } as ClientDeps
  const asking = askServed(deps, 'research', () =>
    reachSession(deps, 'session', () => deps.client.workflow.getHandle('session').query(statsQuery)),
  )
  await expect(asking).rejects.toMatchObject({ code: 'AGENT_NOT_SERVED' })
  await connection.close()
})
