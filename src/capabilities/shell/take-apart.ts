/**
 * Takes a command apart: every simple command in it, also those in substitutions, pipes and texts that are run by other
 * shells, and every file it is redirected to. Whatever this file does not know becomes a step `unknown`. It is pure.
 */
import type { Node } from 'web-tree-sitter'
import { Unparsed, type ParseBash } from './bash-parser.ts'
import { innerOf, type Inner } from './inner-commands.ts'
import { hidesSubstitution, isStaticArithmetic, isStaticExpansion } from './expansions.ts'
import { changed, either, type Cwds } from './working-folders.ts'
import { literal, wordOf, type Word } from './word.ts'

export type Step =
  | { kind: 'command'; assignments: readonly string[]; words: readonly Word[]; cwds: Cwds }
  | { kind: 'read' | 'write'; target: Word; cwds: Cwds }
  | { kind: 'unknown'; what: string }

interface Walk {
  parse: ParseBash
  out: Step[]
  depth: number
}

/** The surroundings of a command. */
interface At {
  cwds: Cwds
  /** Its input, if that is a here-document or here-string. Undefined: another input. */
  stdin?: Word | undefined
  /** Words that stand behind a redirection. */
  more?: readonly Word[]
}

/** How deep commands may stand in commands that they run. */
const DEPTH = 5
/** The parser sometimes takes them for names of commands. */
const RESERVED = new Set(
  'if then else elif fi for while until do done case esac select function in { } ! [[ ]] (('.split(' '),
)

/** @param cwd where it runs: absolute, without links */
export function takeApart(parse: ParseBash, text: string, cwd: string): Step[] {
  const walk: Walk = { parse, out: [], depth: 0 }
  script(walk, text, [cwd])
  return walk.out
}

function script(walk: Walk, text: string, cwds: Cwds): Cwds {
  if (walk.depth > DEPTH) return unknown(walk, text)
  const after = walk.parse(text, (root) => all({ ...walk, depth: walk.depth + 1 }, root.children, { cwds }))
  if (!(after instanceof Unparsed)) return after
  walk.out.push({ kind: 'unknown', what: after.why })
  return undefined
}

/** One after another. */
function all(walk: Walk, nodes: readonly (Node | null)[], at: At): Cwds {
  let { cwds } = at
  for (const node of nodes) if (node?.isNamed) cwds = step(walk, node, { ...at, cwds })
  return cwds
}

/** @returns the folders in which the next command may run */
function step(walk: Walk, node: Node, at: At): Cwds {
  switch (node.type) {
    case 'comment':
      return at.cwds
    case 'compound_statement':
      return node.child(0)?.type === '((' ? arithmetic(walk, node, at.cwds) : all(walk, node.children, at)
    case 'do_group':
    case 'if_statement':
    case 'elif_clause':
    case 'else_clause':
    case 'while_statement':
    case 'negated_command':
      return either(at.cwds, all(walk, node.children, at))
    case 'list':
      return list(walk, node, at)
    case 'pipeline':
      pipeline(walk, node.namedChildren, at)
      return at.cwds
    case 'subshell':
      all(walk, node.children, at)
      return at.cwds
    case 'redirected_statement':
      return redirected(walk, node, at)
    case 'command':
      return command(walk, node, at)
    case 'variable_assignments':
      return all(walk, node.children, at)
    case 'variable_assignment':
      inside(walk, node, at.cwds)
      if (!isOwnVariable(node.text)) push(walk, { assignments: [node.text], words: [literal(node.text)] }, at.cwds)
      return at.cwds
    case 'declaration_command':
    case 'unset_command':
      inside(walk, node, at.cwds)
      push(walk, { assignments: [], words: node.text.split(/\s+/).map(literal) }, at.cwds)
      return at.cwds
    case 'test_command':
      return test(walk, node, at.cwds)
    case 'for_statement':
      return loop(walk, node, at)
    case 'case_statement':
      return cases(walk, node, at)
  }
  return unknown(walk, node.text)
}

/** A redirection behind the last one is its own. */
function pipeline(walk: Walk, parts: readonly (Node | null)[], at: At): void {
  for (const [index, part] of parts.entries()) {
    if (part) step(walk, part, index === parts.length - 1 ? at : { cwds: at.cwds })
  }
}

/** After `cd a && …` it is in a; after `cd a || …` and `cd a; …` it may be in both. */
function list(walk: Walk, node: Node, at: At): Cwds {
  let [any, succeeded] = [at.cwds, at.cwds]
  const parts = chain(node)
  for (const [index, { part, operator }] of parts.entries()) {
    const cwds = operator === '&&' ? succeeded : any
    const after = step(walk, part, index === parts.length - 1 ? { ...at, cwds } : { cwds })
    const moved = part.type === 'command' ? after?.slice(cwds?.length ?? 0) : []
    succeeded = moved?.length ? moved : after
    any = either(any, after)
  }
  return any
}

function chain(node: Node): { part: Node; operator?: string }[] {
  const [left, middle, right] = node.children
  if (node.type !== 'list' || !left || !middle || !right) return [{ part: node }]
  return [...chain(left), { part: right, operator: middle.type }]
}

function redirected(walk: Walk, node: Node, at: At): Cwds {
  const redirects = node.namedChildren.filter((child) => child !== null && child.type.endsWith('_redirect')) as Node[]
  const body = node.childForFieldName('body')
  const { stdin, more } = readRedirects(walk, redirects, at)
  // Without a command the files are opened, and emptied, all the same.
  const inner = { ...at, ...(stdin && { stdin }), ...(more.length > 0 && { more }) }
  const after = body ? step(walk, body, inner) : at.cwds
  const cwds = either(at.cwds, after)
  for (const redirect of redirects) {
    files(walk, redirect, cwds)
    // The rest of the line behind the mark of a here-document: `cat <<EOF | sh`.
    if (redirect.type === 'heredoc_redirect') all(walk, redirect.children.filter(isStatement), { cwds })
  }
  return cwds
}

function isStatement(node: Node | null): boolean {
  return node !== null && node.isNamed && !/^heredoc_|_redirect$|^file_descriptor$/.test(node.type)
}

function readRedirects(walk: Walk, redirects: readonly Node[], at: At): { stdin?: Word; more: Word[] } {
  let stdin: Word | undefined
  const more: Word[] = []
  for (const redirect of redirects) {
    if (redirect.type === 'herestring_redirect') {
      const word = redirect.namedChildren.findLast((child) => child !== null)
      if (word) stdin = wordOf(word)
      inside(walk, redirect, at.cwds)
    } else if (redirect.type === 'heredoc_redirect') {
      stdin = hereDocument(walk, redirect, at.cwds)
    } else {
      const [first, ...others] = redirect.childrenForFieldName('destination')
      if (others[0] && others[0].startIndex === first?.endIndex) unknown(walk, redirect.text)
      for (const other of others) if (other) more.push(argument(walk, other, at.cwds))
    }
  }
  return { ...(stdin && { stdin }), more }
}

/** The text of a here-document, after the commands in it. */
function hereDocument(walk: Walk, redirect: Node, cwds: Cwds): Word {
  const child = (type: string): Node | undefined =>
    redirect.namedChildren.find((each) => each?.type === type) ?? undefined
  const [body, mark] = [child('heredoc_body'), child('heredoc_start')?.text ?? '']
  const text = body?.text ?? ''
  if (child('heredoc_end')?.text.trim() !== mark.replaceAll(/['"\\]/g, '')) unknown(walk, redirect.text)
  if (!body || /['"\\]/.test(mark)) return literal(text)
  inside(walk, body, cwds)
  // The parser does not see every substitution.
  let rest = text
  for (const each of body.namedChildren) if (each && each.type !== 'heredoc_content') rest = rest.replace(each.text, '')
  if (/`|\$[({[]/.test(rest.replaceAll(/\\[^]/g, ''))) unknown(walk, text)
  return { text, known: !/[$`\\]/.test(text) }
}

/** The files of a redirection. */
function files(walk: Walk, node: Node, cwds: Cwds): void {
  if (node.type === 'heredoc_redirect') {
    for (const child of node.namedChildren) if (child?.type === 'file_redirect') files(walk, child, cwds)
  }
  if (node.type !== 'file_redirect') return
  const destination = node.childForFieldName('destination')
  if (!destination) return
  const operator = node.children.find((child) => child !== null && !child.isNamed)?.type ?? ''
  const target = argument(walk, destination, cwds)
  if (target.pipe || (operator.endsWith('&') && target.known && /^(?:\d+-?|-)$/.test(target.text))) return
  if (operator === '<') walk.out.push({ kind: 'read', target, cwds })
  else if (['>', '>>', '>|', '&>', '&>>', '>&'].includes(operator)) walk.out.push({ kind: 'write', target, cwds })
  else unknown(walk, node.text)
}

function command(walk: Walk, node: Node, at: At): Cwds {
  const assignments: string[] = []
  const words: Word[] = []
  const redirects: Node[] = []
  for (const [index, child] of node.children.entries()) {
    // The parser takes some words for two: tr`echo uncat`e.
    const isSecondHalf = child?.startIndex === node.children[index - 1]?.endIndex
    if (isSecondHalf && !child?.type.endsWith('_redirect')) unknown(walk, node.text)
    if (child?.type === 'variable_assignment') {
      inside(walk, child, at.cwds)
      assignments.push(child.text)
    } else if (child?.type.endsWith('_redirect')) redirects.push(child)
    else if (child?.type === 'command_name' && child.child(0)) {
      words.push(argument(walk, child.child(0) as Node, at.cwds))
    } else if (child?.isNamed) words.push(argument(walk, child, at.cwds))
    else return unknown(walk, node.text)
  }
  const { stdin = at.stdin, more } = readRedirects(walk, redirects, at)
  for (const redirect of redirects) files(walk, redirect, at.cwds)
  return run(walk, { assignments, words: [...words, ...more, ...(at.more ?? [])], stdin }, at.cwds)
}

interface Run {
  assignments: readonly string[]
  words: readonly Word[]
  stdin?: Word | undefined
}

function run(walk: Walk, { assignments, words, stdin }: Run, cwds: Cwds): Cwds {
  const [name] = words
  const source = words.map(({ text }) => text).join(' ')
  if (!name?.known || name.glob || name.home || RESERVED.has(name.text) || walk.depth > DEPTH) {
    return unknown(walk, source)
  }
  const inner = innerOf(words, stdin)
  if (!inner.replaces) push(walk, { assignments, words }, cwds)
  let after = cwds
  for (const each of inner.runs)
    after = runInner({ ...walk, depth: walk.depth + 1 }, each, { assignments, cwds, source })
  // A command that a program runs does not change the folder of the shell.
  if (inner.runs.length > 0) return inner.here ? either(cwds, after) : cwds
  return name.text === 'cd' || name.text === 'pushd' || name.text === 'popd' ? changed(words, cwds) : cwds
}

function runInner(
  walk: Walk,
  inner: Inner,
  { assignments, cwds, source }: { assignments: readonly string[]; cwds: Cwds; source: string },
): Cwds {
  const where = inner.elsewhere ? undefined : cwds
  if (inner.words) {
    return run(walk, { assignments: [...assignments, ...(inner.assignments ?? [])], words: inner.words }, where)
  }
  if (!inner.script?.known) return unknown(walk, source)
  // They change what the shell and its commands do: `BASH_ENV=./x bash -c ls`.
  for (const each of assignments) push(walk, { assignments: [], words: [literal(each)] }, where)
  return script(walk, inner.script.text, where)
}

function loop(walk: Walk, node: Node, at: At): Cwds {
  const variable = node.childForFieldName('variable')?.text ?? ''
  if (!isOwnVariable(`${variable}=`)) unknown(walk, `for ${variable}`)
  for (const value of node.childrenForFieldName('value')) if (value) argument(walk, value, at.cwds)
  const body = node.childForFieldName('body')
  return body ? either(at.cwds, step(walk, body, at)) : unknown(walk, node.text)
}

function cases(walk: Walk, node: Node, at: At): Cwds {
  let after = at.cwds
  for (const item of node.namedChildren) {
    if (item?.type !== 'case_item') {
      if (item) inside(walk, item, at.cwds)
      continue
    }
    const patterns = item.childrenForFieldName('value')
    for (const pattern of patterns) if (pattern) inside(walk, pattern, at.cwds)
    const known = new Set(patterns.map((pattern) => pattern?.id))
    after = either(
      after,
      all(
        walk,
        item.children.filter((child) => !known.has(child?.id)),
        at,
      ),
    )
  }
  return after
}

/** Numbers in `[[ ]]` are computed, which may run the text in a variable. */
function test(walk: Walk, node: Node, cwds: Cwds): Cwds {
  const first = node.child(0)?.type
  if (first === '((') return arithmetic(walk, node, cwds)
  const computes = first === '[[' && /-(?:eq|ne|lt|le|gt|ge)\b/.test(node.text) && /[$A-Za-z_]/.test(operandsOf(node))
  if (computes || /(?:^|\s)-[vR]\s/.test(node.text)) return unknown(walk, node.text)
  inside(walk, node, cwds)
  push(walk, { assignments: [], words: [literal('test'), literal(node.text)] }, cwds)
  return cwds
}

function operandsOf({ text }: Node): string {
  return text.replaceAll(/(?:^|\s)-[a-z]+\b/g, ' ')
}

function arithmetic(walk: Walk, node: Node, cwds: Cwds): Cwds {
  return isStaticArithmetic(node.text) ? cwds : unknown(walk, node.text)
}

/** A word, and the commands in it. */
function argument(walk: Walk, node: Node, cwds: Cwds): Word {
  inside(walk, node, cwds)
  return wordOf(node)
}

/** The substitutions in a word, a here-document or a test. */
function inside(walk: Walk, node: Node, cwds: Cwds): void {
  switch (node.type) {
    case 'command_substitution':
    case 'process_substitution':
      // `$(< file)` holds a redirection only.
      for (const child of node.namedChildren) if (child?.type === 'file_redirect') files(walk, child, cwds)
      all(walk, node.namedChildren.filter(isStatement), { cwds })
      return
    case 'arithmetic_expansion':
      if (!isStaticArithmetic(node.text)) unknown(walk, node.text)
      return
    case 'expansion':
      if (!isStaticExpansion(node.text) || hidesSubstitution(node)) unknown(walk, node.text)
      break
    case 'subscript':
      if (!/\[(?:\d+|@|\*)\]$/.test(node.text)) unknown(walk, node.text)
  }
  for (const child of node.namedChildren) if (child) inside(walk, child, cwds)
}

/** Variables in lower case change nothing outside of the script; others may change what programs do. */
function isOwnVariable(assignment: string): boolean {
  return /^[a-z_][a-z0-9_]*\+?=/.test(assignment)
}

function push(walk: Walk, { assignments, words }: Omit<Run, 'stdin'>, cwds: Cwds): void {
  walk.out.push({ kind: 'command', assignments, words, cwds })
}

function unknown(walk: Walk, what: string): undefined {
  walk.out.push({ kind: 'unknown', what })
  return undefined
}
