/** What a model is asked with. It is made of configuration, transcript and question, and of nothing else. */
import { expect, it } from 'vitest'
import { makePrompt, toMessages } from '../../../src/activities/model/prompt.ts'
import type { Message } from '../../../src/core/message.ts'

const before: Message[] = [
  { role: 'user', content: 'Weather?' },
  { role: 'assistant', content: 'Rain.', model: 'm-1' },
]
const question: Message = { role: 'user', content: 'And tomorrow?' }
const tools = [{ name: 'look', description: 'looks', parameters: {} }]

it('a prompt has the question after the transcript, and the system prompt apart', () => {
  const prompt = makePrompt({
    config: { systemPrompt: 'You tell the weather.' },
    transcript: { messages: before },
    question,
    tools,
  })
  expect(prompt).toMatchObject({ system: 'You tell the weather.', messages: [...before, question], tools })
  expect(toMessages(prompt)).toEqual([{ role: 'system', content: 'You tell the weather.' }, ...before, question])
})

it('a prompt without a question goes on from the transcript', () => {
  const prompt = makePrompt({ config: {}, transcript: { messages: before }, tools: [] })
  expect(prompt).toMatchObject({ messages: before, tools: [], full: false })
  expect(toMessages(prompt)).toEqual(before)
})

it('an empty system prompt is none', () => {
  expect(makePrompt({ config: { systemPrompt: '' }, transcript: { messages: before }, tools })).not.toHaveProperty(
    'system',
  )
})

it('a model gets a list of its own: the transcript stays as it is', () => {
  toMessages(makePrompt({ config: {}, transcript: { messages: before }, tools })).pop()
  expect(before).toHaveLength(2)
})
