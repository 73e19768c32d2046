/** Somebody who sends a message from a process of their own, for tests that kill them. */
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
