/** A fake provider of chat completions in a process of its own: it tells its parent its URL, and ends with it. */
import { startFakeOpenAI } from '../src/testing/index.ts'
import { emptyModel } from './agent.ts'

const fake = await startFakeOpenAI({
  model: {
    ...emptyModel('ok'),
    complete(messages, options) {
      // A server that lives on would not keep them either.
      ;(fake.requests as unknown[]).length = 0
      return emptyModel('ok').complete(messages, options)
    },
  },
})
process.once('disconnect', () => void fake.close())
process.send?.(fake.url)
