/**
 * Other names of parameters. They are applied before validation, and never over a parameter that was sent under its own
 * name.
 */
import { describe, expect, it } from 'vitest'
import { toTool } from '../../../src/tool/to-tool.ts'
import { refusal } from '../agent/authoring.ts'

const edit = (aliases: unknown) => ({
  name: 'Edit',
  description: 'Edits',
  parameters: {
    type: 'object',
    properties: { file_path: { type: 'string' }, all: { type: 'boolean' } },
    required: ['file_path'],
    additionalProperties: false,
  },
  aliases,
  execute: () => 'edited',
})
const tool = toTool(edit({ filePath: 'file_path', path: 'file_path', replaceAll: 'all' }))

describe('an alias', () => {
  it.each([
    [
      'becomes the parameter, which is then repaired as usual',
      { filePath: 'a', replaceAll: 'true' },
      { file_path: 'a', all: true },
    ],
    ['gives way to the parameter itself', { filePath: 'a', file_path: 'b' }, { file_path: 'b' }],
    ['that comes after the parameter gives way too', { file_path: 'b', filePath: 'a' }, { file_path: 'b' }],
    ['counts once: of two the first', { path: 'a', filePath: 'b' }, { file_path: 'a' }],
  ])('%s', (_what, args, value) => {
    expect(tool.check(args)).toEqual({ ok: true, value })
  })

  it('sets no prototype from a parameter beside it, whoever calls the check', () => {
    const { parameters, ...rest } = edit({ filePath: 'file_path' })
    const open = toTool({ ...rest, parameters: { ...parameters, additionalProperties: true } })
    const checked = open.check(JSON.parse('{"filePath":"a","__proto__":{"all":true}}'))
    const value = checked.ok ? checked.value : {}
    expect([Object.getPrototypeOf(value), 'all' in (value as object)]).toEqual([Object.prototype, false])
    expect(value).toMatchObject({ file_path: 'a' })
  })

  it('leaves alone what is no object', () => {
    expect(tool.check(['filePath'])).toMatchObject({ ok: false })
    expect(tool.check(null)).toMatchObject({ ok: false, problem: expect.stringContaining('file_path') as string })
  })

  it.each([
    ['for nothing', { old: 'older' }, 'alias "old" stands for no parameter'],
    ['that is a parameter', { all: 'file_path' }, 'alias "all" is a parameter itself'],
    ['in a list', 'filePath', 'aliases must be an object'],
  ])('%s is refused', (_what, aliases, message) => {
    expect(refusal('INVALID_TOOL', () => toTool(edit(aliases)))).toContain(`tool "Edit": ${message}`)
  })
})
