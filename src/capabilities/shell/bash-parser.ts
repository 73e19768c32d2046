/**
 * Parses bash with tree-sitter. It refuses every text that bash might read in another way than the parser, because permissions
 * are decided by the parsed command.
 */
import { createRequire } from 'node:module'
import { Language, Parser, type Node } from 'web-tree-sitter'

/** Runs `use` on the tree of a text, or returns why there is none. The tree lives until `use` returns. */
export type ParseBash = <Result>(text: string, use: (root: Node) => Result) => Result | Unparsed

export class Unparsed {
  readonly why: string

  constructor(why: string) {
    this.why = why
  }
}

const TEXT_LIMIT = 20_000
const PARSE_MS = 1000
const MISSING = 'the parser of shell commands is not installed (npm install tree-sitter-bash)'

let loading: Promise<Parser | undefined> | undefined

/** Never rejects: without the parser every text is unparsed. */
export async function bashParser(): Promise<ParseBash> {
  const parser = await (loading ??= load())
  return (text, use) => {
    if (!parser) return new Unparsed(MISSING)
    const problem = problemOf(text)
    if (problem !== undefined) return new Unparsed(problem)
    const until = performance.now() + PARSE_MS
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > until })
    if (!tree) {
      parser.reset()
      return new Unparsed('the command takes too long to parse')
    }
    try {
      const root = tree.rootNode
      if (root.hasError || !coversAll(root, text)) return new Unparsed('the command cannot be parsed')
      return use(root)
    } finally {
      tree.delete()
    }
  }
}

/** `tree-sitter-bash` is an optional dependency. */
async function load(): Promise<Parser | undefined> {
  try {
    await Parser.init()
    const grammar = createRequire(import.meta.url).resolve('tree-sitter-bash/tree-sitter-bash.wasm')
    return new Parser().setLanguage(await Language.load(grammar))
  } catch {
    return undefined
  }
}

/** Texts that bash and the parser read differently: white space beside blank, tab and line feed, and lines joined in a word. */
function problemOf(text: string): string | undefined {
  if (text.length > TEXT_LIMIT) return `the command is longer than ${TEXT_LIMIT} characters`
  if (/[^\S \t\n]|[^\P{Cc}\t\n]/u.test(text)) return 'the command holds control characters or unusual white space'
  if (/[^ \t]\\\n/.test(text)) return 'a line of the command is continued inside a word'
  return undefined
}

/** The parser takes some patterns as plain text, with the substitutions in them. */
function hides(type: string, token: string): boolean {
  return (
    !/^(?:raw_string|ansi_c_string|comment|heredoc_\w+|.{1,2})$/.test(type) &&
    /`|\$[({[]|[<>]\(/.test(token.replaceAll(/\\[^]/g, ''))
  )
}

/** Whether every character is part of a token that holds no other, except for white space between tokens. */
function coversAll(root: Node, text: string): boolean {
  let at = 0
  const cursor = root.walk()
  const skips = (to: number): boolean => /^(?:\s|\\\n)*$/.test(text.slice(at, to))
  try {
    for (;;) {
      // To the first token. The text of a here-document is none.
      while (cursor.nodeType !== 'heredoc_body' && cursor.gotoFirstChild());
      if (!skips(cursor.startIndex) || hides(cursor.nodeType, cursor.nodeText)) return false
      at = Math.max(at, cursor.endIndex)
      while (!cursor.gotoNextSibling()) if (!cursor.gotoParent()) return skips(text.length)
    }
  } finally {
    cursor.delete()
  }
}
