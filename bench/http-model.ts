/**
 * A fake provider of chat completions, in a process of its own. It tells its parent its URL and ends with its parent.
 */
import { startFakeOpenAI } from '../src/testing/index.ts'
import { emptyModel } from './agent.ts'

const fake = await startFakeOpenAI({
  model: {
    ...emptyModel('ok'),
    complete(messages, options) {
      // The fake server keeps all requests. A real one does not, so they are removed.
      ;(fake.requests as unknown[]).length = 0
      return emptyModel('ok').complete(messages, options)
    },
  },
})
process.once('disconnect', () => void fake.close())
process.send?.(fake.url)
