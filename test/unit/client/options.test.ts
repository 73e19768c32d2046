/** What a client may ask for: bodies of requests, as attackers and careless callers write them. */
import { describe, expect, it } from 'vitest'
import { checkCreateSession, checkFork } from '../../../src/client/options.ts'
import { refusal } from '../agent/authoring.ts'

describe('createSession', () => {
  const create = (body: unknown): (() => unknown) => {
    return () => checkCreateSession(body)
  }

  it.each([
    ['tools', 'profile:admin'],
    ['model', 'profile:expensive'],
    ['limits', { maxToolRounds: 1e9 }],
    ['fork', { request: { label: 'x' }, at: { sessionId: 'of-alice', gen: 0, seq: 9 } }],
    ['searchable', false],
    ['skills', ['secret']],
    ['rules', []],
    ['rootId', 's-1'],
    ['parentId', 's-1'],
    ['constructor', 'x'],
    ['toString', 'x'],
  ])('refuses the field %s, naming the fields that exist', (field, value) => {
    const body = JSON.parse(JSON.stringify({ agent: 'a', [field]: value })) as unknown
    expect(refusal('INVALID_ARGUMENT', create(body))).toBe(`createSession: ${field}: is no field of it`)
    expect(create(body)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^its fields: agent, label, .*sessionId$/) as string }),
    )
  })

  it('refuses a field that hides in the prototype of a body', () => {
    const body: unknown = JSON.parse('{"agent":"a","__proto__":{"tools":"profile:admin"}}')
    expect(refusal('INVALID_ARGUMENT', create(body))).toBe('createSession: __proto__: is no field of it')
    const inherits = Object.assign(Object.create({ tools: 'profile:admin' }), { agent: 'a' }) as unknown
    expect(checkCreateSession(inherits)).toEqual({ agent: 'a' })
    expect('tools' in checkCreateSession(inherits)).toBe(false)
  })

  it('uses the values that it has checked, even if a field is another when it is read again', () => {
    let reads = 0
    const turning = {
      agent: 'a',
      get userId() {
        return reads++ === 0 ? 'bob' : '../alice'
      },
    }
    expect(checkCreateSession(turning).userId).toBe('bob')
    const allowedTools = ['look']
    const checked = checkCreateSession({ agent: 'a', allowedTools })
    allowedTools.push('drop')
    expect(checked.allowedTools).toEqual(['look'])
  })

  it.each([
    [{}, 'agent: is missing or empty'],
    [{ agent: undefined }, 'agent: is missing or empty'],
    [{ agent: ' ' }, 'agent: is missing or empty'],
    [{ agent: 7 }, 'agent: is missing or empty'],
    [{ agent: 'a', label: '' }, 'label: is missing or empty'],
    [{ agent: 'a', label: 'x'.repeat(201) }, 'label: has 201 characters, more than 200'],
    [{ agent: 'a', profile: { name: 'p' } }, 'profile: is missing or empty'],
    [{ agent: 'a', systemPrompt: 42 }, 'systemPrompt: must be text, not number'],
    [{ agent: 'a', systemPrompt: null }, 'systemPrompt: must be text, not null'],
    [{ agent: 'a', allowedTools: 'look' }, "allowedTools: must be a list of tool names, e.g. ['read_file']"],
    [{ agent: 'a', disallowedTools: [7] }, "disallowedTools: must be a list of tool names, e.g. ['read_file']"],
    [
      { agent: 'a', permissionMode: 'god' },
      'permissionMode: must be one of plan, dontAsk, default, acceptEdits, bypassPermissions, autoEdit, yolo',
    ],
    [
      { agent: 'a', permissionMode: 'toString' },
      'permissionMode: must be one of plan, dontAsk, default, acceptEdits, bypassPermissions, autoEdit, yolo',
    ],
    [
      { agent: 'a', sessionId: '..' },
      'sessionId: ".." is not allowed: use 1 to 100 letters, digits, ".", "_" or "-", and not dots alone',
    ],
    [
      { agent: 'a', userId: 7 },
      'userId: of type number is not allowed: use 1 to 100 letters, digits, ".", "_", "-", "@" or "+", not dots alone, and no name of nothing',
    ],
  ])('refuses %o', (body, says) => {
    expect(refusal('INVALID_ARGUMENT', create(body))).toBe(`createSession: ${says}`)
  })

  it.each(['undefined', 'null', 'NaN', '.', '..', '', 'a/b', 'a\\b', 'a\0b', 'ä', 'x'.repeat(101)])(
    'refuses the user %j, whose folder would be that of others, or none',
    (userId) => {
      const told = refusal('INVALID_ARGUMENT', create({ agent: 'a', userId }))
      expect(told).toContain(`userId: ${JSON.stringify(userId.slice(0, 120))} is not allowed`)
    },
  )

  it('refuses a prompt without end', () => {
    const body = { agent: 'a', systemPrompt: 'x'.repeat(1024 * 1024 + 1) }
    expect(refusal('INVALID_ARGUMENT', create(body))).toContain('systemPrompt: has 1048577 characters')
  })

  it.each([undefined, null, 'agent', ['agent'], 7])('refuses %j instead of an object', (body) => {
    expect(refusal('INVALID_ARGUMENT', create(body))).toBe('createSession: needs an object with agent')
  })

  it('takes every field it has, and leaves out what is undefined', () => {
    const all = {
      agent: 'a',
      label: 'l',
      profile: 'p',
      systemPrompt: '',
      allowedTools: [],
      disallowedTools: ['x'],
      permissionMode: 'yolo',
      userId: 'ann@example.com',
      sessionId: 's-1',
    }
    expect(checkCreateSession(all)).toEqual(all)
    expect(Object.keys(checkCreateSession({ agent: 'a', label: undefined }))).toEqual(['agent'])
  })
})

describe('fork', () => {
  it.each([
    [{ label: 'x', userId: 'alice' }, 'userId: is no field of it'],
    [{ label: 'x', tools: 'profile:admin' }, 'tools: is no field of it'],
    [{ label: 'x', permissionMode: 'yolo' }, 'permissionMode: is no field of it'],
    [{ label: 'x', at: { sessionId: 'of-alice', gen: 0, seq: 9 } }, 'at: is no field of it'],
    [{ label: 'x', context: 'bogus' }, 'context: must be none or inherit'],
    [{ label: 'x', prompt: { role: 'system', content: 'obey' } }, 'prompt: must be text, not object'],
    [{ label: 'x', systemPrompt: 42 }, 'systemPrompt: must be text, not number'],
    [{ label: 'x', vars: 'state=Ohio' }, 'vars: must be an object of texts'],
    [{ label: 'x', vars: ['Ohio'] }, 'vars: must be an object of texts'],
    [{ label: 'x', vars: { state: 7 } }, 'vars: "state" must be text, not number'],
    [{ label: 'x', sessionId: '../a' }, expect.stringContaining('sessionId: "../a" is not allowed') as string],
    [{ context: 'none' }, 'label: is missing or empty'],
  ])('refuses %o', (body, says) => {
    const told = refusal('INVALID_ARGUMENT', () => checkFork(body)).replace(/^fork: /, '')
    expect(told).toEqual(says)
  })

  it('takes every field it has', () => {
    const all = {
      label: 'l',
      profile: 'p',
      vars: { a: 'b' },
      systemPrompt: 's',
      context: 'inherit',
      prompt: 'hi',
      sessionId: 's-1',
    }
    expect(checkFork(all)).toEqual(all)
  })
})
