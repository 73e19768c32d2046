/** A client that sends a message, in a process of its own, for tests that kill it. */
import { connectStello } from '../../src/client/index.ts'

const { sessionId, messageId, text, ...servers } = JSON.parse(process.argv[2] ?? '') as {
  sessionId: string
  messageId: string
  text: string
  temporalAddress: string
  databaseUrl: string
}
const client = await connectStello(servers)
await client.session(sessionId).send(text, { messageId })
process.exit()
