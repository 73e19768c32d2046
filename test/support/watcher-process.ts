/** A watcher of a session in a process of its own, for tests that stop it. */
import { connectStello } from '../../src/client/index.ts'

const { sessionId, ...servers } = JSON.parse(process.argv[2] ?? '') as {
  sessionId: string
  temporalAddress: string
  databaseUrl: string
}
const client = await connectStello(servers)
for await (const { type } of client.session(sessionId).watch()) process.send?.(type)
