/** A server that does what servers should not do. It writes a line to the file of its first argument at each start. */
import { appendFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const [journal, ...habits] = process.argv.slice(2)
appendFileSync(journal, 'started\n')
if (habits.includes('never-starts')) {
  process.stderr.write(`no licence for ${process.env.LICENCE ?? 'anybody'}\n`)
  process.exit(1)
}

const server = new McpServer({ name: 'bad', version: '1' })
const text = (content) => ({ content: [{ type: 'text', text: content }] })

server.registerTool('crash', {}, () => {
  appendFileSync(journal, 'crashed\n')
  process.stderr.write('out of memory\n')
  process.exit(3)
})
server.registerTool('hang', {}, async ({ signal, sendNotification, _meta: { progressToken } }) => {
  appendFileSync(journal, 'hanging\n')
  await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 3 } })
  signal.addEventListener('abort', () => appendFileSync(journal, 'told to stop\n'))
  return new Promise(() => undefined)
})
server.registerTool('freeze', {}, () => {
  appendFileSync(journal, 'frozen\n')
  for (;;);
})
server.registerTool('long', { inputSchema: { bytes: z.number() } }, ({ bytes }) => text('x'.repeat(bytes)))
server.registerTool('learn', { inputSchema: { name: z.string() } }, ({ name }) => {
  server.registerTool(name, {}, () => text(`I am ${name}`))
  return text('learnt')
})
server.registerTool('tell', {}, () => text(JSON.stringify(process.env)))
server.registerTool('key', {}, ({ _meta }) => text(String(_meta['stello-temporal/idempotency-key'])))
server.registerTool('vector', {}, () => ({
  content: [
    { type: 'image', data: Buffer.from('<svg/>').toString('base64'), mimeType: 'image/svg+xml' },
    { type: 'image', data: 'A'.repeat(5 * 1024 * 1024 + 4), mimeType: 'image/png' },
    { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
  ],
}))
server.registerTool('a.b', {}, () => text('with a dot'))
server.registerTool('a_b', {}, () => text('with a line'))
server.registerTool('ask', {}, async () => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  const { action } = await server.server.elicitInput({ message: 'Who are you?', requestedSchema })
  appendFileSync(journal, `heard ${action}\n`)
  return text(action)
})
await server.connect(new StdioServerTransport())
