import { describe, expect, it } from 'vitest'
import { ERRORS_LIMIT, STATS_LIMIT } from '../../../src/session/state.ts'
import { addToolResult } from '../../../src/session/stats.ts'
import { asks, message, opened, play, rests, result, tool } from './play.ts'

describe('statistics', () => {
  it('count every tool: how often, how well, how long', () => {
    const { state } = play(
      opened(),
      message('a'),
      asks(1, 0, 2, 'Read', 'Read', 'Grep'),
      tool(1, 0, 0),
      tool(1, 0, 1, result({ isError: true, durationMs: 7 })),
      tool(1, 0, 2),
      rests(1, 1, 6),
    )
    expect(state.stats).toEqual({
      Read: { toolName: 'Read', executionCount: 2, successCount: 1, failureCount: 1, totalDuration: 12 },
      Grep: { toolName: 'Grep', executionCount: 1, successCount: 1, failureCount: 0, totalDuration: 5 },
    })
    expect(state.totals).toEqual({ turns: 1, modelCalls: 2, toolCalls: 3, inputTokens: 20, outputTokens: 4 })
  })

  it('count how each tool failed, by what it calls that', () => {
    const failures = ['ENOENT', 'ENOENT', undefined, '__proto__'].map((error) =>
      result({ isError: true, ...(error !== undefined && { error }) }),
    )
    const results = [...failures, result({ isError: true, code: 'TOOL_TIMEOUT' }), result({ error: 'no failure' })]
    const { stats } = results.reduce((state, each) => addToolResult(state, 'Read', each), opened())
    expect(stats['Read']).toMatchObject({ executionCount: 6, failureCount: 5 })
    expect(Object.entries(stats['Read']?.errors ?? {})).toEqual([
      ['ENOENT', 2],
      ['__proto__', 1],
      ['TOOL_TIMEOUT', 1],
    ])
  })

  it('count failures beyond the limit only as failures', () => {
    const names = Array.from({ length: ERRORS_LIMIT + 3 }, (_, i) => `E${i}`)
    const { stats } = [...names, 'E0'].reduce(
      (state, error, i) => addToolResult(state, `tool-${i % 2}`, result({ isError: true, error })),
      opened(),
    )
    const errors = Object.values(stats).map((tool) => Object.keys(tool.errors ?? {}).length)
    expect(errors.reduce((sum, n) => sum + n, 0)).toBe(ERRORS_LIMIT)
    expect(stats['tool-1']?.errors?.['E0']).toBeUndefined()
    expect(Object.values(stats).reduce((sum, { failureCount }) => sum + failureCount, 0)).toBe(names.length + 1)
  })

  it('count a tool whose name JavaScript objects know', () => {
    for (const name of ['constructor', '__proto__']) {
      const once = addToolResult(opened(), name, result())
      expect(addToolResult(once, name, result()).stats[name]).toMatchObject({ toolName: name, executionCount: 2 })
    }
  })

  it('put tools beyond the limit together', () => {
    const names = [...Array.from({ length: STATS_LIMIT + 4 }, (_, i) => `tool-${i}`), 'constructor']
    const { stats } = names.reduce((state, name) => addToolResult(state, name, result()), opened())
    expect(Object.keys(stats)).toHaveLength(STATS_LIMIT + 1)
    expect(stats['(other)']?.executionCount).toBe(5)
  })
})
