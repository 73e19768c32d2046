import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractJSON } from '../../src/models/actions/extract-json.ts'

const object = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }))
  .map((value) => JSON.stringify(value))
  .filter((text) => !text.includes('__proto__'))

const WRAPPINGS: Record<string, (json: string) => string> = {
  bare: (json) => json,
  'with space around it': (json) => ` \n\t${json}\n `,
  'behind a byte order mark': (json) => `\uFEFF${json}`,
  'in a json fence': (json) => `\`\`\`json\n${json}\n\`\`\``,
  'in a plain fence': (json) => `\`\`\`\n${json}\n\`\`\``,
  'in a fence inside prose': (json) => `It's what I do:\n\`\`\`json\n${json}\n\`\`\`\nLet me "proceed…`,
  'inside prose': (json) => `Here's my action: ${json} – I'll wait.`,
  'in backticks': (json) => `Sure: \`${json}\``,
  'behind a thought': (json) => `<think>\nIs it {"action": "rm"}? No.\n</think>\n\n${json}`,
  'behind a brace of prose': (json) => `Blocks begin with { here. ${json}`,
}

describe('extractJSON finds an object', () => {
  for (const [how, wrap] of Object.entries(WRAPPINGS)) {
    it(how, () => {
      fc.assert(
        fc.property(object, (json) => {
          expect(extractJSON(wrap(json))).toEqual(JSON.parse(json))
        }),
      )
    })
  }

  it('with fences and braces in its strings', () => {
    const value = { action: 'write', content: '# Use\n```json\n{"a": 1}\n```\n}}{{ "quoted\\' }
    expect(extractJSON(`I write:\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`)).toEqual(value)
  })

  it('in a fence rather than in the prose before it', () => {
    expect(extractJSON('Not {"a": 1} but\n```json\n{"a": 2}\n```')).toEqual({ a: 2 })
  })

  it('behind braces that hold no JSON', () => {
    expect(extractJSON('function f() { return 1 } and {"a": 1}')).toEqual({ a: 1 })
  })
})

describe('extractJSON repairs', () => {
  const cases: [string, string, string][] = [
    ['an illegal escape', String.raw`{"v": "find . -exec rm {} \;"}`, String.raw`find . -exec rm {} \;`],
    ['escaped digits', String.raw`{"v": "s/(a)/\1/"}`, String.raw`s/(a)/\1/`],
    ['an illegal escape beside a legal one', String.raw`{"v": "a \\; b \; c"}`, String.raw`a \; b \; c`],
    ['a u that begins no code', String.raw`{"v": "C:\users\u0041"}`, String.raw`C:\usersA`],
    ['raw line breaks in strings', '{\n"v": "a\n\tb"\n}', 'a\n\tb'],
  ]
  for (const [what, text, v] of cases) {
    it(what, () => expect(extractJSON(text)).toEqual({ v }))
  }

  it('nothing that is valid', () => {
    expect(extractJSON(String.raw`{"v": "C:\new \"\\;\" \u00e9"}`)).toEqual({ v: 'C:\new "\\;" é' })
  })

  it('no text of any kind once it was escaped wrongly', () => {
    const word = fc.stringMatching(/^[ -!#-[\]-~]*$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 2 }), (words) => {
        const v = words.join('\\;')
        expect(extractJSON(`{"v": "${v}"}`)).toEqual({ v })
      }),
    )
  })
})

describe('extractJSON mends', () => {
  const cases: [string, string, unknown][] = [
    ['commas too many', '{"a": [1, 2,],}', { a: [1, 2] }],
    ['a comma too few', '{"a": 1\n"b": 2}', { a: 1, b: 2 }],
    ['a dictionary of Python', `{'a': True, 'b': None, 'c': 'a "b"'}`, { a: true, b: null, c: 'a "b"' }],
    ['an object of JavaScript', "```js\n{a: 'x', b: [1]}\n```", { a: 'x', b: [1] }],
    ['quotes of a word processor', '{“a”: “b”}', { a: 'b' }],
    ['a value without quotes', '{"action": "shell", "command": ls}', { action: 'shell', command: 'ls' }],
    ['quotes inside a string', '{"v": "say "hello, world" now"}', { v: 'say "hello, world" now' }],
    [
      'without dropping a backslash',
      String.raw`{"v": "find \; \d+ C:\users",}`,
      { v: String.raw`find \; \d+ C:\users` },
    ],
    ['without a prototype', '{"a": {"__proto__": 1,},}', { a: {} }],
  ]
  for (const [what, text, value] of cases) {
    it(what, () => expect(extractJSON(text)).toEqual(value))
  }

  it('only when no other object parses as it is', () => {
    expect(extractJSON('{"a": 1,} {"a": 2}')).toEqual({ a: 2 })
    expect(extractJSON('```json\n{"a": 1,}\n``` {"a": 2,}')).toEqual({ a: 1 })
  })

  it('any object with doubled commas at its end, whatever its strings hold', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string(), { minKeys: 1 }), (value) => {
        fc.pre(!('__proto__' in value))
        const mended = extractJSON(JSON.stringify(value).replace(/}$/, ',}'))
        // Odd quotes inside a string cannot be told from a string that ended early.
        if (mended !== null) expect(mended).toEqual(value)
        else expect(JSON.stringify(value)).toMatch(/\\"|None|True|False|undefined/)
      }),
    )
  })
})

describe('extractJSON does not mend', () => {
  const cases: [string, string][] = [
    ['what leaves something out', '{"text": "begin", ...}'],
    ['a list that leaves something out', '{"a": [1, 2, ...]}'],
    ['what has notes in it', '{"text": "a" /* the rest as before */}'],
    ['a call', '{"a": f({"b": 1})}'],
    ['a sum', '{"a": "b" + "c"}'],
    ['a value that is missing', '{"a": }'],
    ['an escape in a string that is none of JSON', String.raw`{'re': '\d+'}`],
    ['quotes that may end a string or not', '{"text": "a "b", "c": d"}'],
    ['an object whose quotes hold another one', '{"action": "save", "text": "```json\n{"action": "rm"}\n```"}'],
    ['two objects into a list', '{"a": "{"b": 1}", "c": "{"d": 2}"}'],
    ['an end that is missing', '{"a": [1, 2}'],
    ['a string whose end is missing', "{'a': 'b}"],
    ['what is inside of what was cut off', '{action: \'save\', data: {"action": "rm"}'],
    ['a comment of Python', '{"a": "build"  # or "dist"\n}'],
    ['a comment behind a comma', '{"a": 1, # or 2\n"b": 2}'],
    ['a comment behind a word', '{"a": build # or dist\n}'],
    ['an alternative', '{"a": "build" or "dist"}'],
    ['an alternative without quotes', '{"a": build or dist}'],
    ['strings side by side', '{"a": "x" "y"}'],
    ['a tuple', '{"a": (1, 2)}'],
    ['a tuple of strings', "{'a': ('x', 'y')}"],
    ['a tuple in a list', '{"a": [(1), 2,]}'],
    ['constants of other languages', '{"a": TRUE}'],
    ['NULL', '{"a": NULL}'],
    ['NaN', '{"a": NaN}'],
    ['a stray colon', '{"a": : 1}'],
    ['a stray colon at the end', '{"a": "b":}'],
    ['a colon too few', '{"a" "b"}'],
    ['numbers of other languages', '{"a": 0x1F}'],
    ['a number with a zero in front', '{"a": 01}'],
    ['a set', "{'a', 'b'}"],
    ['a long string of Python', '{"a": """x"""}'],
    ['an apostrophe in single quotes', "{'a': 'it's'}"],
    ['a call of JavaScript', '{"a": x.y()}'],
    ['style sheets in prose', 'Like this: a { color: red } – see?'],
    ['more than 8 Ki', `{"a": "${'x'.repeat(8 * 1024)}",}`],
    ['what jsonrepair cannot nest', `{"a": ${'"+"'.repeat(4000)}}`],
  ]
  for (const [what, text] of cases) {
    it(what, () => expect(extractJSON(text)).toBeNull())
  }
})

describe('extractJSON answers null', () => {
  for (const text of ['', 'Plain text.', '[1, 2]', '42', 'null', 'a { b', '}{', '{"a": 1']) {
    it(`for ${text || 'nothing'}`, () => expect(extractJSON(text)).toBeNull())
  }

  it('for a broken object, whatever whole ones are in it', () => {
    expect(extractJSON('{"action": "save", "data": {"action": "rm"}')).toBeNull()
    expect(extractJSON('{"action": "save", "data": {"action": "rm"} oops}')).toBeNull()
    expect(extractJSON('{"action": "save", "text": "```json\n{"action": "rm"}\n```')).toBeNull()
  })

  it('for an object that is only a half of what was meant', () => {
    expect(extractJSON('{"action": "edit", "path": "a"}, "replace_all": true}')).toBeNull()
    expect(extractJSON('{"a": {"b": 1}}, "c": 2}')).toBeNull()
    expect(extractJSON('{"a": 1}}')).toBeNull()
    expect(extractJSON('{"a": 1}, "b"')).toEqual({ a: 1 })
  })

  it('for text over the cap and nesting over the cap', () => {
    expect(extractJSON(`{"a": "${'x'.repeat(256 * 1024)}"}`)).toBeNull()
    expect(extractJSON('{"a":'.repeat(201) + '1' + '}'.repeat(201))).toBeNull()
    expect(extractJSON('{"a":'.repeat(200) + '1' + '}'.repeat(200))).not.toBeNull()
  })

  const NEARLY = ['{a:', "{'", '{a:1}', '{"a":1 "', "{'a':'b' ", "'", '{"a" "']
  const HOSTILE = [
    '{',
    '{"',
    '{"a":',
    '{"a":1}',
    '[{"',
    '"\\"',
    '<think>',
    '```{',
    '{"a":"\\',
    '{"a":"\\;"} {',
    ...NEARLY,
  ]

  it.each(HOSTILE)('for hostile text, at a cost that grows no faster than the text: %j', (piece) => {
    const text = (length: number): string => piece.repeat(length / piece.length)
    const [part, whole, beyond] = [text(25_000), text(250_000), text(1_000_000)]
    const inParts = leastMs(() => Array.from({ length: 10 }, () => extractJSON(part)))
    // 1 is linear, 10 is quadratic. The constant allows for a clock that is not exact.
    for (const long of [whole, beyond]) expect(leastMs(() => extractJSON(long))).toBeLessThan(4 * inParts + 20)
    expect(extractJSON(beyond)).toBeNull()
  })
})

/** The smallest of five runs counts, because other processes only add time. */
function leastMs(work: () => unknown): number {
  const runs = Array.from({ length: 5 }, () => {
    const begun = performance.now()
    work()
    return performance.now() - begun
  })
  return Math.min(...runs)
}

it('extractJSON never throws', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ':',
    ',',
    '```',
    'json',
    '\n',
    '<think>',
    '</think>',
    'a',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 60 }).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(text, (any) => {
      const found = extractJSON(any)
      expect(found === null || Object.getPrototypeOf(found) === Object.prototype).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

it('extractJSON leaves out __proto__ at every depth', () => {
  expect(extractJSON('{"__proto__": {"x": 1}, "a": {"__proto__": 1, "b": 2}}')).toEqual({ a: { b: 2 } })
})
