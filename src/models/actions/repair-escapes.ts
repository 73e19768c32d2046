/**
 * Repairs escapes in what models write as JSON. It must never change a valid escape or the meaning of an invalid one.
 */

/** A string without an end matches too: otherwise the text after each of its quotes would be read again. */
const STRING = /"[^"\\]*(?:\\[\s\S][^"\\]*)*("?)/g
const ESCAPE = /\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|[\s\S])/g

/**
 * Doubles the backslash of illegal escapes (`\;`, `\d`, `C:\users`) and escapes raw control characters, in strings
 * only. `\n`, `\t` and `\b` are legal and stay, even if the model meant a Windows path.
 *
 * @param text a balanced text in which each string ends. A string that does not end is left as it is
 * @example JSON.parse(repairEscapes(String.raw`{"re": "\d+"}`)) // { re: '\\d+' }
 */
export function repairEscapes(text: string): string {
  return text.replace(STRING, (string, end: string) => {
    if (end === '') return string
    return string
      .replace(ESCAPE, (escape, legal?: string) => (legal === undefined ? `\\${escape}` : escape))
      .replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1))
  })
}
