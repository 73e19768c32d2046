/** Which parts of calls a rule speaks of: tools, commands, paths, addresses, servers. */
import { describe, expect, it } from 'vitest'
import { toRule, ruleProblem } from '../../../src/permissions/rule.ts'
import type { Doubt } from '../../../src/permissions/part.ts'
import type { Touch } from '../../../src/tool/touch.ts'

const ROOT = '/srv/w'

function matches(
  rule: string,
  tool: string,
  touch?: Touch,
  doubt: Doubt = 'strict',
  root: string | undefined = ROOT,
): boolean {
  return toRule(rule).matches({ tool, ...(touch && { touch }), ...(root !== '' && { root }) }, doubt)
}
const command = (text: string, argv = text.split(' ')): Touch => ({
  kind: 'command',
  command: text,
  argv,
  readonly: false,
})
const read = (path: string): Touch => ({ kind: 'read', path })
const write = (path: string): Touch => ({ kind: 'write', path })
const url = (to: string): Touch => ({ kind: 'url', url: to })

describe('a rule for a tool', () => {
  it.each([
    ['Bash', 'Bash', true],
    ['Bash', 'BashOutput', false],
    ['mcp__git', 'mcp__git__push', true],
    ['mcp__git', 'mcp__github__push', false],
    ['mcp__git__*', 'mcp__git__push', true],
    ['mcp__git__*', 'mcp__github__push', false],
    ['mcp__my_git__*', 'mcp__my_git__push', true],
    ['mcp__git__push', 'mcp__git__push', true],
    ['mcp__git__push', 'mcp__git__push__force', false],
    ['mcp__git__push', 'mcp__git__pull', false],
  ])('%s and %s: %s', (rule, tool, expected) => {
    expect(matches(rule, tool)).toBe(expected)
    expect(matches(rule, tool, command('rm'))).toBe(expected)
  })

  it('with brackets never speaks of a whole call', () => {
    expect(matches('Bash(npm test)', 'Bash', undefined, 'wide')).toBe(false)
  })
})

describe('a rule for commands', () => {
  it.each([
    ['Bash(npm test)', 'npm test', true],
    ['Bash(npm test)', 'npm test --force', false],
    ['Bash(git log:*)', 'git log', true],
    ['Bash(git log:*)', 'git log -p x', true],
    ['Bash(git log *)', 'git log -p x', true],
    ['Bash(git log:*)', 'git logs', false],
    ['Bash(git log:*)', 'git push', false],
    ['Bash(*)', 'anything at all', true],
  ])('%s and `%s`: %s', (rule, text, expected) => {
    expect(matches(rule, 'Bash', command(text))).toBe(expected)
    expect(matches(rule, 'Other', command(text))).toBe(false)
  })

  it('reads words and not text: quotes hide nothing, and a quoted word with a space is one word', () => {
    expect(matches('Bash(rm:*)', 'Bash', command("'rm' -rf x", ['rm', '-rf', 'x']))).toBe(true)
    expect(matches('Bash(rm a b)', 'Bash', command("rm 'a b'", ['rm', 'a b']))).toBe(false)
  })

  it.each(['/bin/rm -rf x', 'sudo rm -rf x', 'env A=1 /usr/bin/rm x', 'xargs -n 1 rm', 'timeout 5 nice rm x'])(
    'finds a denied program in `%s`, and allows only what is written',
    (text) => {
      expect(matches('Bash(rm:*)', 'Bash', command(text), 'wide')).toBe(true)
      expect(matches('Bash(rm:*)', 'Bash', command(text), 'strict')).toBe(false)
    },
  )

  it('does not take an argument for a program', () => {
    expect(matches('Bash(rm:*)', 'Bash', command('grep -r rm src'), 'wide')).toBe(false)
  })
})

describe('a rule for paths', () => {
  it.each([
    ['Edit(src/**)', write('/srv/w/src/a/b.ts'), true],
    ['Edit(src/**)', write('/srv/w/lib/src/b.ts'), false],
    ['Edit(/src)', write('/srv/w/src/b.ts'), true],
    ['Edit(src/**)', read('/srv/w/src/b.ts'), false],
    ['Read(.env)', read('/srv/w/deep/down/.env'), true],
    ['Read(*.pem)', read('/srv/w/a/key.pem'), true],
    ['Read(docs/*.md)', read('/srv/w/docs/a.md'), true],
    ['Read(docs/*.md)', read('/srv/w/docs/a/b.md'), false],
    ['Read(//srv/data/**)', read('/srv/data/x'), true],
    ['Read(//srv/data/**)', read('/srv/database/x'), false],
    ['Read(**)', read('/srv/w'), true],
    ['Read(src/**)', read('/srv/w'), false],
    ['Edit(src/**)', write('/srv/www/src/a'), false],
  ])('%s and %j: %s', (rule, touch, expected) => {
    expect(matches(rule, 'Any', touch)).toBe(expected)
  })

  it('named after another tool speaks only of that tool', () => {
    expect(matches('Write(src/**)', 'Write', write('/srv/w/src/a'))).toBe(true)
    expect(matches('Write(src/**)', 'Bash', write('/srv/w/src/a'))).toBe(false)
  })

  it('that denies ignores upper and lower case; one that allows does not', () => {
    expect(matches('Read(.env)', 'Read', read('/srv/w/.ENV'), 'wide')).toBe(true)
    expect(matches('Read(.env)', 'Read', read('/srv/w/.ENV'), 'strict')).toBe(false)
  })

  it('denies at any depth if the folder is not known, and allows nothing there', () => {
    expect(matches('Edit(secrets/**)', 'Bash', write('/srv/x/secrets/a'), 'wide', '')).toBe(true)
    expect(matches('Edit(secrets/**)', 'Bash', write('/elsewhere/secrets/a'), 'wide')).toBe(true)
    expect(matches('Edit(secrets/**)', 'Bash', write('/srv/x/secrets/a'), 'strict', '')).toBe(false)
  })
})

describe('a path that would take a worker its whole time', () => {
  const deep = (levels: number): Touch => read(`/${'a/'.repeat(levels - 1)}c`)

  it('is denied by every rule for paths, and allowed by none', () => {
    const rule = 'Read(**/a/**/b)'
    expect(matches(rule, 'Read', deep(64), 'wide', '/')).toBe(false)
    expect(matches(rule, 'Read', deep(1000), 'wide', '/')).toBe(true)
    expect(matches('Read', 'Read', deep(1000), 'strict', '/')).toBe(true)
    expect(matches('Read(a/**)', 'Read', deep(64), 'strict', '/')).toBe(true)
    expect(matches('Read(a/**)', 'Read', deep(1000), 'strict', '/')).toBe(false)
  })
})

describe('a rule for addresses', () => {
  it.each([
    ['https://example.com/a', true],
    ['https://EXAMPLE.com.:8443/', true],
    ['https://docs.example.com', true],
    ['https://badexample.com', false],
    ['https://example.com.evil.org', false],
    ['https://example.com@evil.org/', false],
  ])('WebFetch(domain:example.com) and %s: %s', (to, expected) => {
    expect(matches('WebFetch(domain:example.com)', 'WebFetch', url(to))).toBe(expected)
  })

  it('denies what is no address, and does not allow it', () => {
    expect(matches('WebFetch(domain:example.com)', 'WebFetch', url('no address'), 'wide')).toBe(true)
    expect(matches('WebFetch(domain:example.com)', 'WebFetch', url('no address'))).toBe(false)
  })
})

it.each([
  [7, 'a rule is a text'],
  ['', 'is no rule'],
  ['Bash(', 'is no rule'],
  ['Bash()', 'is no rule'],
  ['Bash( )', 'is no rule'],
  ['Bash (x)', 'is no rule'],
  ['Read(!.env)', 'cannot be negated'],
  ['Read(~/.ssh)', '//absolute/path'],
  ['Read(# x)', 'is a comment'],
  ['Read(**/a/**/b/**/c/**/d)', 'a pattern holds **/ at most 3 times'],
  ['mcp__*', 'only mcp__server__* may hold a *'],
  ['mcp__git__pu*', 'only mcp__server__* may hold a *'],
  ['mcp__git__*(x)', 'only mcp__server__* may hold a *'],
  ['*', 'only mcp__server__* may hold a *'],
])('%j is refused: %s', (rule, why) => {
  expect(ruleProblem(rule)).toContain(why)
})
