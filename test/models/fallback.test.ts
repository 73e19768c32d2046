/** How a list of models works as one model. When which of them is asked: `test/store/call-model.test.ts`. */
import { describe, expect, it } from 'vitest'
import { StelloError } from '../../src/core/errors.ts'
import type { Completion, Model, ModelDelta } from '../../src/core/model.ts'
import { jsonActions } from '../../src/models/actions/json-actions.ts'
import { withToolsPrompt } from '../../src/models/actions/with-tools-prompt.ts'
import { fallback } from '../../src/models/fallback.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { scriptedModel } from '../../src/testing/index.ts'

const question = [{ role: 'user' as const, content: 'Hi' }]

function refusing(name: string, error: unknown, delta?: ModelDelta): Model {
  return {
    name,
    complete(_messages, { onDelta } = {}): Promise<Completion> {
      if (delta) onDelta?.(delta)
      return Promise.reject(error as Error)
    },
  }
}

describe('fallback', () => {
  it('is one model that says which models it is made of', () => {
    const first: Model = { ...scriptedModel([], { name: 'a' }), contextWindow: 9000, maxToolRounds: 9 }
    const second: Model = { ...scriptedModel([], { name: 'b' }), contextWindow: 5000 }
    const model = fallback([first, second], { after: '2 minutes' })
    expect(model).toMatchObject({ name: 'a or b', contextWindow: 5000, maxToolRounds: 9 })
    expect(model.fallback).toEqual({ models: [first, second], afterMs: 120_000 })
    expect(fallback([first]).fallback?.afterMs).toBe(30_000)
  })

  it('lets each model of one provider wait for itself', () => {
    const [large, small, other] = ['large', 'small'].map((model) => openai({ model })).concat(scriptedModel(['x']))
    const models = fallback([large, small, other] as Model[]).fallback?.models
    expect(new Set(models?.map(({ provider, name }) => provider ?? name)).size).toBe(3)
    expect(models?.map(({ name }) => name)).toEqual(['large', 'small', other?.name])
  })

  it('stays a list of models inside jsonActions and withToolsPrompt', async () => {
    for (const wrap of [jsonActions, withToolsPrompt]) {
      const one = scriptedModel(['Hello.'], { name: 'one' })
      const wrapped = wrap(fallback([one, scriptedModel([], { name: 'two' })], { after: 5000 }))
      expect(wrapped.fallback?.afterMs).toBe(5000)
      expect(wrapped.fallback?.models.map(({ name }) => name)).toEqual(['one', 'two'])
      const tools = [{ name: 'now', description: 'The time', parameters: { type: 'object' } }]
      await wrapped.fallback?.models[0]?.complete(question, { tools })
      expect(one.calls[0]?.messages[0]?.content).toContain('now')
    }
  })

  it.each([
    ['no model', () => fallback([]), 'must be a list of at least one model'],
    ['something else', () => fallback('gpt' as never), 'must be a list of at least one model'],
    ['what is no model', () => fallback([{} as never]), 'fallback: model 1: must be a model'],
    [
      'a fallback in it',
      () => fallback([openai({ model: 'a' }), fallback([openai({ model: 'b' })])]),
      'put all models into one list',
    ],
    ['one name twice', () => fallback([openai({ model: 'a' }), openai({ model: 'a' })]), '"a" is there twice'],
    ['no duration', () => fallback([openai({ model: 'a' })], { after: 'soon' }), 'fallback: after'],
  ])('refuses a list with %s', (_what, make, problem) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT', message: expect.stringContaining(problem) as string }),
    )
  })
})

describe('the own complete of a fallback', () => {
  const answering = (): Model => scriptedModel(['Hello.'], { name: 'b' })

  it.each([
    ['is away', new StelloError('MODEL_UNAVAILABLE', 'away')],
    ['has no credit', new StelloError('MODEL_NO_CREDIT', 'pay')],
    ['throws what has no code', new Error('odd')],
  ])('asks the next model when the first %s, and says who answered', async (_what, error) => {
    expect(await fallback([refusing('a', error), answering()]).complete(question)).toMatchObject({
      content: 'Hello.',
      model: 'b',
    })
  })

  it.each([
    ['a wrong key', new StelloError('MODEL_AUTH', 'who?'), undefined],
    [
      'a break in the middle of an answer',
      new StelloError('MODEL_UNAVAILABLE', 'cut'),
      { type: 'text', text: 'Hel' } as const,
    ],
  ])('throws %s', async (_what, error, delta) => {
    const model = fallback([refusing('a', error, delta), answering()])
    await expect(model.complete(question, { onDelta: () => undefined })).rejects.toBe(error)
  })
})
