import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { generateToolsPrompt } from '../../src/agent/tools-prompt.ts'
import { withToolsPrompt } from '../../src/models/actions/with-tools-prompt.ts'
import { scriptedModel } from '../../src/testing/index.ts'

const tools = [{ name: 'now', description: 'The time', parameters: { type: 'object' } }]
const question: Message = { role: 'user', content: 'What time is it?' }

describe('withToolsPrompt', () => {
  it('describes the tools behind the system prompt and sends them all the same', async () => {
    const inner = scriptedModel(['Noon.', 'Noon.'], { name: 'gemma' })
    const model = withToolsPrompt(inner)
    await model.complete([{ role: 'system', content: 'Be brief.' }, question], { tools })
    await model.complete([question], { tools })
    const text = generateToolsPrompt(tools)
    expect(inner.calls).toMatchObject([
      { tools, messages: [{ role: 'system', content: `Be brief.\n\n${text}` }, question] },
      { tools, messages: [{ role: 'system', content: text }, question] },
    ])
    expect(model.name).toBe('gemma')
  })

  it('adds nothing without tools', async () => {
    const inner = scriptedModel(['Noon.'])
    await withToolsPrompt(inner).complete([question])
    expect(inner.calls[0]?.messages).toEqual([question])
  })
})
