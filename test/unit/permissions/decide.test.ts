/** The decision: deny, ask, mode, allow; the parts of a call together; the layers of a tree. */
import { describe, expect, it } from 'vitest'
import { decide, mayRead, type Asking, type Permissions } from '../../../src/permissions/decide.ts'
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

  it('judges what is touched, where that is known', () => {
    expect(decided(permissions('plan'), bash(command('ls', true), read('/srv/w/a')))).toBe('allow')
    expect(decided(permissions('plan'), bash(command('ls', true), write('/srv/w/a')))).toBe('deny')
    expect(decided(permissions('acceptEdits'), bash(write('/srv/w/a')))).toBe('allow')
    expect(decided(permissions('acceptEdits'), bash(command('make')))).toBe('ask')
    expect(decided(permissions('default'), { ...call('execute', { kind: 'url', url: 'https://a.b' }) })).toBe('ask')
    expect(decided(permissions('default'), { ...call('readonly', { kind: 'url', url: 'https://a.b' }) })).toBe('allow')
  })
})

describe('rules', () => {
  it('that deny win over those that ask, and those win over those that allow', () => {
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

  it('that ask are denied where nobody is asked', () => {
    expect(decided(permissions('dontAsk', { ask: ['Read'] }), { tool: 'Read', kind: 'readonly' })).toBe('deny')
    expect(decided(permissions('dontAsk', { allow: ['Bash(make)'] }), bash(command('make')))).toBe('allow')
  })
})

describe('a part that could not be taken apart', () => {
  it('is asked about', () => {
    expect(decided(permissions('default', { allow: ['Bash(npm:*)'] }), bash(command('npm test'), UNKNOWN))).toBe('ask')
    expect(decided(permissions('acceptEdits'), bash(UNKNOWN))).toBe('ask')
  })

  it('runs where everything of the tool does, unless a rule speaks of parts that it may hide', () => {
    expect(decided(permissions('default', { allow: ['Bash'] }), bash(UNKNOWN))).toBe('allow')
    expect(decided(permissions('bypassPermissions'), bash(UNKNOWN))).toBe('allow')
    expect(decided(permissions('bypassPermissions', { deny: ['Bash(rm:*)'] }), bash(UNKNOWN))).toBe('ask')
    expect(decided(permissions('default', { allow: ['Bash'], deny: ['Read(.env)'] }), bash(UNKNOWN))).toBe('ask')
  })
})

describe('layers', () => {
  const parent = { allow: ['Bash(npm:*)', 'Bash(git:*)'], deny: ['Bash(npm publish:*)'] }

  it('of a child narrow: all that state what is allowed must allow it, and every denial holds', () => {
    const child = permissions('default', parent, { allow: ['Bash(npm:*)', 'Bash(make)'], deny: ['Bash(npm ci:*)'] })
    expect(decided(child, bash(command('npm test')))).toBe('allow')
    expect(decided(child, bash(command('git log')))).toBe('ask')
    expect(decided(child, bash(command('make')))).toBe('ask')
    expect(decided(child, bash(command('npm publish')))).toBe('deny')
    expect(decided(child, bash(command('npm ci')))).toBe('deny')
  })

  it('that state nothing to allow leave it as it is; the first one then allows nothing', () => {
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

it('a search leaves out what may not be read', () => {
  const given = permissions('default', { deny: ['Read(.env)'] })
  expect(mayRead(given, 'Grep', '/srv/w/deep/.env', root)).toBe(false)
  expect(mayRead(given, 'Grep', '/srv/w/deep/env', root)).toBe(true)
})
