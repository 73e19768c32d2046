/** The decision: deny, ask, mode, allow; the parts of a call together; the layers of a tree. */
import { describe, expect, it } from 'vitest'
import { decide, ruled, type Asking, type Permissions } from '../../../src/permissions/decide.ts'
import { toRules } from '../../../src/permissions/rules.ts'
import { suggestRules } from '../../../src/permissions/suggest.ts'
import type { PermissionMode } from '../../../src/protocol/permission-mode.ts'
import type { PermissionRules } from '../../../src/protocol/permission-rules.ts'
import type { Kind } from '../../../src/tool/tool.ts'
import type { Touch } from '../../../src/tool/touch.ts'

const root = '/srv/w'

function permissions(mode: PermissionMode, ...layers: PermissionRules[]): Permissions {
  return { mode, layers: (layers.length > 0 ? layers : [{}]).map(toRules) }
}
const call = (kind: Kind, ...touches: Touch[]): Asking => ({ tool: 'Tool', kind, touches, root })
const bash = (...touches: Touch[]): Asking => ({ ...call('execute', ...touches), tool: 'Bash' })
const words = (text: string, argv: string[], readonly = false): Touch => ({
  kind: 'command',
  command: text,
  argv,
  readonly,
})
const command = (text: string, readonly = false): Touch => words(text, text.split(' '), readonly)
const write = (path: string): Touch => ({ kind: 'write', path })
const read = (path: string): Touch => ({ kind: 'read', path })
const UNKNOWN: Touch = { kind: 'unknown', what: 'eval' }
const decided = (given: Permissions, asking: Asking): string => decide(given, asking).decision

describe('the mode', () => {
  it.each<[PermissionMode, string, string, string]>([
    ['plan', 'allow', 'deny', 'deny'],
    ['dontAsk', 'allow', 'deny', 'deny'],
    ['default', 'allow', 'ask', 'ask'],
    ['acceptEdits', 'allow', 'allow', 'ask'],
    ['bypassPermissions', 'allow', 'allow', 'allow'],
  ])('%s: readonly %s, write %s, execute %s', (mode, readonly, writes, executes) => {
    const kinds: Kind[] = ['readonly', 'write', 'execute']
    expect(kinds.map((kind) => decided(permissions(mode), call(kind)))).toEqual([readonly, writes, executes])
  })

  it('judges what is touched, if that is known', () => {
    expect(decided(permissions('plan'), bash(command('ls', true), read('/srv/w/a')))).toBe('allow')
    expect(decided(permissions('plan'), bash(command('ls', true), write('/srv/w/a')))).toBe('deny')
    expect(decided(permissions('acceptEdits'), bash(write('/srv/w/a')))).toBe('allow')
    expect(decided(permissions('acceptEdits'), bash(command('make')))).toBe('ask')
    expect(decided(permissions('default'), { ...call('execute', { kind: 'url', url: 'https://a.b' }) })).toBe('ask')
    expect(decided(permissions('default'), { ...call('readonly', { kind: 'url', url: 'https://a.b' }) })).toBe('allow')
  })
})

describe('rules', () => {
  it('that deny win over those that ask, and those that ask win over those that allow', () => {
    const rules = { allow: ['Bash'], ask: ['Bash(git push:*)'], deny: ['Bash(rm:*)'] }
    expect(decided(permissions('default', rules), bash(command('make')))).toBe('allow')
    expect(decided(permissions('default', rules), bash(command('git push')))).toBe('ask')
    expect(decided(permissions('default', { ...rules, ask: ['Bash'] }), bash(command('rm x')))).toBe('deny')
    expect(decide(permissions('default', rules), bash(command('rm x'))).rule).toBe('Bash(rm:*)')
  })

  it('that deny and ask hold in bypassPermissions', () => {
    const rules = { ask: ['Bash(git push:*)'], deny: ['Bash(rm:*)', 'Edit(.git)'] }
    expect(decided(permissions('bypassPermissions', rules), bash(command('rm x')))).toBe('deny')
    expect(decided(permissions('bypassPermissions', rules), bash(command('git push')))).toBe('ask')
    expect(decided(permissions('bypassPermissions', rules), bash(write('/srv/w/.git/config')))).toBe('deny')
  })

  it('must allow every part, and one denied part denies the call', () => {
    const rules = { allow: ['Bash(npm:*)', 'Bash(echo:*)'], deny: ['Bash(curl:*)'] }
    expect(decided(permissions('default', rules), bash(command('npm test'), command('echo x')))).toBe('allow')
    expect(decided(permissions('default', rules), bash(command('npm test'), command('make')))).toBe('ask')
    expect(decided(permissions('default', rules), bash(command('npm test'), command('make'), command('curl x')))).toBe(
      'deny',
    )
  })

  it('do not widen plan mode', () => {
    expect(decided(permissions('plan', { allow: ['Bash'] }), bash(command('make')))).toBe('deny')
  })

  it('that ask deny where nobody is asked', () => {
    expect(decided(permissions('dontAsk', { ask: ['Read'] }), { tool: 'Read', kind: 'readonly' })).toBe('deny')
    expect(decided(permissions('dontAsk', { allow: ['Bash(make)'] }), bash(command('make')))).toBe('allow')
  })
})

describe('a part that could not be taken apart', () => {
  it('is asked about', () => {
    expect(decided(permissions('default', { allow: ['Bash(npm:*)'] }), bash(command('npm test'), UNKNOWN))).toBe('ask')
    expect(decided(permissions('acceptEdits'), bash(UNKNOWN))).toBe('ask')
  })

  it('runs if everything of the tool runs, unless a rule speaks of parts that it may hide', () => {
    expect(decided(permissions('default', { allow: ['Bash'] }), bash(UNKNOWN))).toBe('allow')
    expect(decided(permissions('bypassPermissions'), bash(UNKNOWN))).toBe('allow')
    expect(decided(permissions('bypassPermissions', { deny: ['Bash(rm:*)'] }), bash(UNKNOWN))).toBe('ask')
    expect(decided(permissions('default', { allow: ['Bash'], deny: ['Read(.env)'] }), bash(UNKNOWN))).toBe('ask')
  })
})

describe('layers', () => {
  const parent = { allow: ['Bash(npm:*)', 'Bash(git:*)'], deny: ['Bash(npm publish:*)'] }

  it('of a child narrow: every layer that states what is allowed must allow it, and every denial holds', () => {
    const child = permissions('default', parent, { allow: ['Bash(npm:*)', 'Bash(make)'], deny: ['Bash(npm ci:*)'] })
    expect(decided(child, bash(command('npm test')))).toBe('allow')
    expect(decided(child, bash(command('git log')))).toBe('ask')
    expect(decided(child, bash(command('make')))).toBe('ask')
    expect(decided(child, bash(command('npm publish')))).toBe('deny')
    expect(decided(child, bash(command('npm ci')))).toBe('deny')
  })

  it('that state nothing to allow leave it as it is; but if the first one states nothing, nothing is allowed', () => {
    expect(decided(permissions('default', parent, {}), bash(command('git log')))).toBe('allow')
    expect(decided(permissions('default', {}, { allow: ['Bash'] }), bash(command('git log')))).toBe('ask')
  })
})

describe('rules that people add', () => {
  const kept = (...rules: string[]): Permissions => ({
    ...permissions('default', { ask: ['Bash(git push:*)'] }),
    kept: toRules({ allow: rules }).allow ?? [],
  })

  it('allow, but never against a rule that asks', () => {
    expect(decided(kept('Bash(npm test)'), bash(command('npm test')))).toBe('allow')
    expect(decided(kept('Bash(npm test)'), bash(command('npm test -- -u')))).toBe('ask')
    expect(decided(kept('Bash(git push)'), bash(command('git push')))).toBe('ask')
  })

  it('count like those of the agent: they widen no list of a profile, and a list without them stays as it is', () => {
    const list = { allow: ['Bash(npm:*)', 'Bash(git:*)'] }
    const given = { ...permissions('default', { allow: ['Bash(git:*)'] }, {}, list), kept: kept('Bash').kept ?? [] }
    expect(decided(given, bash(command('npm test')))).toBe('allow')
    expect(decided(given, bash(command('git log')))).toBe('allow')
    expect(decided(given, bash(command('make')))).toBe('ask')
  })

  it.each<[Asking, string[]]>([
    [bash(command('npm test')), ['Bash(npm test)']],
    [bash(command('npm test'), write('/srv/w/out/log/a.txt')), ['Bash(npm test)', 'Edit(/out/log/**)']],
    [call('write', write('/srv/w/a.txt')), ['Edit(/a.txt)']],
    [call('write', write('/srv/w/a[1]/b')), ['Edit(/a\\[1\\]/**)']],
    [call('write', write('/srv/other/a')), ['Edit(//srv/other/a)']],
    [call('execute'), ['Tool']],
    [call('execute', { kind: 'url', url: 'https://Example.com/x' }), ['Tool(domain:example.com)']],
    [bash(command('npm run:*')), []],
    [bash(command('ls *')), []],
    [bash(command('./deploy $env')), []],
    [bash(command('python -c "$code"')), []],
    [bash(command('npm …')), []],
    [bash(words("./say '$x' a", ['./say', '$x', 'a'])), ["Bash(./say '$x' a)"]],
    [bash(words("./say $x '$x'", ['./say', '$x', '$x'])), []],
    [bash(command('npm test'), UNKNOWN), []],
  ])('are as narrow as what was shown: %j', (asking, rules) => {
    const { parts } = decide(permissions('default'), asking)
    expect(suggestRules(parts)).toEqual(rules)
    if (rules.length > 0) expect(decided(kept(...rules), asking)).toBe('allow')
  })
})

it('what a call comes upon while it runs is judged by the rules that deny, then by those that ask', () => {
  const rules = { deny: ['Read(.env)', 'WebFetch(domain:a.example)'], ask: ['WebFetch(domain:example)'] }
  const given = permissions('bypassPermissions', {}, rules)
  const found = (tool: string, touch: Touch) => ruled(given, tool, touch)
  const file = (path: string): Touch => ({ kind: 'read', path, root })
  expect(found('Grep', file('/srv/w/deep/.env'))).toEqual({ decision: 'deny', rule: 'Read(.env)' })
  expect(found('Grep', file('/srv/w/deep/env'))).toBe(undefined)
  const url = (host: string): Touch => ({ kind: 'url', url: `https://${host}/` })
  expect(found('WebFetch', url('a.example'))).toEqual({ decision: 'deny', rule: 'WebFetch(domain:a.example)' })
  expect(found('WebFetch', url('b.example'))).toEqual({ decision: 'ask', rule: 'WebFetch(domain:example)' })
  expect(found('BrowserOpen', url('a.example'))).toBe(undefined)
})

describe('a call that names an MCP server', () => {
  const prompt: Asking = { tool: 'GetMcpPrompt', kind: 'readonly', touches: [{ kind: 'server', server: 'billing' }] }

  it.each(['mcp__billing', 'mcp__billing__*'])('is denied and asked about by %s', (rule) => {
    expect(decide(permissions('bypassPermissions', { deny: [rule] }), prompt)).toMatchObject({ decision: 'deny', rule })
    expect(decide(permissions('default', { ask: [rule] }), prompt)).toMatchObject({ decision: 'ask', rule })
    expect(decided(permissions('default', { allow: [rule] }), { ...prompt, kind: 'execute' })).toBe('allow')
  })

  it('is not a call of another server, or of a single tool', () => {
    const given = permissions('default', { deny: ['mcp__bill', 'mcp__billing__pay', 'mcp__billing__pay__now'] })
    expect(decided(given, prompt)).toBe('allow')
  })

  it('offers no rule for all tools of that server', () => {
    expect(suggestRules(decide(permissions('default'), { ...prompt, kind: 'execute' }).parts)).toEqual([])
  })
})
