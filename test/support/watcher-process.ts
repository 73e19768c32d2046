/** Somebody who watches a session from a process of their own, for tests that stop them. */
import { connectStello } from '../../src/client/index.ts'

const { sessionId, ...servers } = JSON.parse(process.argv[2] ?? '') as {
  sessionId: string
  temporalAddress: string
  databaseUrl: string
}
const client = await connectStello(servers)
for await (const { type } of client.session(sessionId).watch()) process.send?.(type)
