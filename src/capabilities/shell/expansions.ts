/** Expansions of variables and numbers that cannot run anything. Others can: `${x@P}`, `$((a[$(command)]))`. */
import type { Node } from 'web-tree-sitter'

const NAME = String.raw`(?:[A-Za-z_]\w*|[0-9@*#?$!-])`
const SAFE = new RegExp(String.raw`^\$\{(?:#?${NAME}|${NAME}(?::?[-+]|##?|%%?|//?)[^]*|\w+\[(?:\d+|@|\*)\])\}$`)

/** Parts of a word that run or compute something. Each is looked at by itself. */
const SUBSTITUTIONS = ['command_substitution', 'process_substitution', 'expansion', 'arithmetic_expansion']

/** @param text `${…}` */
export function isStaticExpansion(text: string): boolean {
  return SAFE.test(text)
}

/** @param text `$((…))`, `$[…]` or `((…))`: only numbers and operators */
export function isStaticArithmetic(text: string): boolean {
  return /^(?:\$?\(\([^A-Za-z_$`"'[\]{}=]*\)\)|\$\[[^A-Za-z_$`"'[\]{}=]*\])$/.test(text)
}

/** The parser takes some patterns and default values as plain text, with the substitutions in them. */
export function hidesSubstitution(expansion: Node): boolean {
  let [rest, at] = ['', expansion.startIndex + '${'.length]
  const end = expansion.endIndex
  const text = (from: number, to: number): string =>
    expansion.text.slice(from - expansion.startIndex, to - expansion.startIndex)
  for (const each of expansion.descendantsOfType(SUBSTITUTIONS)) {
    if (!each || each.startIndex < at) continue
    rest += `${text(at, each.startIndex)} `
    at = each.endIndex
  }
  return /`|\$[({[]|[<>]\(/.test(rest + text(at, end))
}
