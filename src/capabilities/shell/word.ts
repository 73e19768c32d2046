/** Words of a command, as the shell will hand them over; or as they are written, where that is known only when it runs. */
import type { Node } from 'web-tree-sitter'

export interface Word {
  /** The value, or the source where the value is not known. */
  text: string
  /** False: it holds a variable or a substitution, and may be any text, or many words. */
  known: boolean
  /** It holds wildcards: the names that match replace it. */
  glob?: boolean
  /** It begins with the home folder. */
  home?: boolean
  /** It is the pipe of a process substitution, no file. */
  pipe?: boolean
}

export function wordOf(node: Node): Word {
  if (node.type === 'process_substitution') return { ...dynamic(node), pipe: true }
  if (node.text === '{}') return literal('{}')
  const parts = node.type === 'concatenation' ? node.children : [node]
  const read = parts.map((part, index) => (part ? partOf(part, index === 0) : undefined))
  if (read.some((part) => !part?.known)) return dynamic(node)
  const text = read.map((part) => part?.text).join('')
  const has = (field: 'glob' | 'home'): boolean => read.some((part) => part?.[field])
  return { text, known: true, ...(has('glob') && { glob: true }), ...(has('home') && { home: true }) }
}

/** A word that was not parsed: the shell takes it as it is. */
export function literal(text: string): Word {
  return { text, known: true }
}

function dynamic({ text }: Node): Word {
  return { text, known: false }
}

function partOf(node: Node, first: boolean): Word {
  const { type, text } = node
  switch (type) {
    case 'word':
    case 'number':
    case 'test_operator':
    case 'variable_name':
      return node.namedChildCount > 0 ? dynamic(node) : bareWord(text, first)
    case 'raw_string':
      return literal(text.slice(1, -1))
    case 'string':
      if (node.namedChildren.some((child) => child?.type !== 'string_content') || text.includes('\\\n')) break
      return literal(text.slice(1, -1).replaceAll(/\\([\\"$`])/g, '$1'))
    case 'ansi_c_string':
      return text.includes('\\') ? dynamic(node) : literal(text.slice(2, -1))
  }
  return dynamic(node)
}

function bareWord(source: string, first: boolean): Word {
  const bare = source.replaceAll(/\\[^]/g, '')
  // Braces make several words of one, except for the `{}` of find and xargs.
  if (/["'`$]/.test(bare) || (bare.includes('{') && bare !== '{}')) return { text: source, known: false }
  const home = first && source.startsWith('~')
  if (home && !/^~(?:\/|$)/.test(source)) return { text: source, known: false }
  return {
    text: source.replaceAll(/\\([^])/g, '$1'),
    known: true,
    ...(/[*?[]/.test(bare) && { glob: true }),
    ...(home && { home }),
  }
}
