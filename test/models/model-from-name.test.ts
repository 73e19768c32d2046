import { describe, expect, it } from 'vitest'
import { modelFromName } from '../../src/models/model-from-name.ts'

describe('a model by name', () => {
  it('is the provider’s, under the name the provider knows', () => {
    expect(modelFromName('openai:gpt-5-mini').name).toBe('gpt-5-mini')
    expect(modelFromName('anthropic:claude-sonnet-5').name).toBe('claude-sonnet-5')
    expect(modelFromName('openai:ft:gpt-5:me').name).toBe('ft:gpt-5:me')
  })

  it.each(['gpt-5-mini', 'azure:gpt-5', 'openai:', ':x', 'toString:x'])(
    'is refused as %j, with the providers there are',
    (name) => {
      expect(() => modelFromName(name)).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT', hint: expect.stringContaining('openai, anthropic') }),
      )
    },
  )
})
