/** Which tools a model is shown only after it has discovered them. */
import { describe, expect, it } from 'vitest'
import { hiddenTools, namesDiscovered } from '../../../src/agent/hidden-tools.ts'

const names = ['DiscoverTools', 'Read', 'mcp__github__issues', 'mcp__files__read', 'a.b']
const hidden = (defers: string[], of = names) => [...hiddenTools([{ tools: [] }, { tools: [], defers }], of)]

describe('hidden tools', () => {
  it.each([
    ['a name', ['Read'], ['Read']],
    ['a pattern', ['mcp__*'], ['mcp__github__issues', 'mcp__files__read']],
    ['a pattern with text behind', ['mcp__*__read'], ['mcp__files__read']],
    ['a pattern of all, but not what finds them', ['*'], ['Read', 'mcp__github__issues', 'mcp__files__read', 'a.b']],
    ['several', ['Read', '*github*'], ['Read', 'mcp__github__issues']],
    ['no part of a name', ['Rea', 'ead', 'axb'], []],
    ['none', [], []],
  ])('are those of %s', (_what, defers, found) => {
    expect(hidden(defers)).toEqual(found)
  })

  it('are none if they could not be found', () => {
    expect(hidden(['*'], ['Read'])).toEqual([])
  })
})

it.each([[undefined], ['Read'], [{ 0: 'Read' }]])('%j names no discovered tool', (value) => {
  expect(namesDiscovered(value)).toEqual([])
})
