/** What an agent may state about its servers, and the names that follow. */
import { expect, it } from 'vitest'
import { fromEnv, mcp } from '../../../../src/capabilities/index.ts'
import { namesOf } from '../../../../src/capabilities/mcp/server-tools.ts'

const program = { command: 'node' }
const own = { ...program, per: 'session' }
const WAIT = { expiresIn: '1 day' }

it.each<[string, unknown, RegExp]>([
  ['no servers', {}, /servers must be an object/],
  ['a name that two servers could make', { a__b: program }, /the name "a__b" must be at most 32/],
  ['a name that ends in _', { a_: program }, /the name "a_" must be/],
  ['neither command nor url', { a: {} }, /server "a" must have either a command or a url/],
  ['both', { a: { command: 'node', url: 'http://x/' } }, /server "a" must have either/],
  ['an unknown field', { a: { ...program, arguments: [] } }, /server "a"\.arguments is no setting/],
  ['a field of the other kind', { a: { ...program, token: 'x' } }, /server "a"\.token is no setting/],
  ['arguments that are a text', { a: { ...program, args: '-v' } }, /server "a"\.args must be a list of texts/],
  ['an address that is none', { a: { url: 'tickets' } }, /server "a"\.url must be an address/],
  ['a file as an address', { a: { url: 'file:///etc' } }, /server "a"\.url must be an address/],
  ['a variable that is a number', { a: { ...program, env: { A: 1 } } }, /server "a"\.env must be an object of texts/],
  ['an unknown lifetime', { a: { ...program, per: 'turn' } }, /server "a"\.per must be worker or session/],
  ['a time that is none', { a: { ...program, timeout: 'soon' } }, /server "a"\.timeout: 'soon' is not a duration/],
  [
    'an unknown setting of a tool',
    { a: { ...program, tools: { x: { safe: true } } } },
    /"a"\.tools\.x\.safe is no setting/,
  ],
  [
    'questions of a shared server',
    { a: { ...program, questions: WAIT } },
    /"a"\.questions is only for a server that each/,
  ],
  ['questions that are a time', { a: { ...own, questions: '1 day' } }, /"a"\.questions must be an object/],
  ['an unknown setting of questions', { a: { ...own, questions: { ...WAIT, to: 'me' } } }, /"a"\.questions\.to is no/],
  ['a default without a time', { a: { ...own, questions: { default: {} } } }, /"a"\.questions\.expiresIn is missing/],
  ['a wait that is none', { a: { ...own, questions: { expiresIn: 'soon' } } }, /"a"\.questions\.expiresIn: 'soon' is/],
  ['a text as a form', { a: { ...own, questions: { ...WAIT, default: 'yes' } } }, /"a"\.questions\.default must be/],
])('refuses %s', (_what, servers, message) => {
  expect(() => mcp({ servers: servers as never })).toThrow(message)
})

it('refuses a secret in the place of its name', () => {
  expect(() => fromEnv('sk-12345')).toThrow(/is no name of an environment variable/)
})

it('names tools as providers take them, each by its own', () => {
  expect([...namesOf('s', ['read', 'a.b', 'Straße'])]).toEqual([
    ['read', 'mcp__s__read'],
    ['a.b', 'mcp__s__a_b'],
    ['Straße', 'mcp__s__Stra_e'],
  ])
})

it('keeps tools apart whose names become the same, in whatever order they come', () => {
  const long = 'x'.repeat(70)
  const tools = ['a.b', 'a_b', 'a:b', `${long}1`, `${long}2`, 'c d', 'c.d']
  const names = namesOf('s', tools)
  expect(new Set(names.values()).size).toBe(tools.length)
  expect(names.get('a_b')).toBe('mcp__s__a_b')
  for (const name of names.values()) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  const turned = namesOf('s', tools.toReversed())
  expect(tools.map((tool) => turned.get(tool))).toEqual(tools.map((tool) => names.get(tool)))
})
