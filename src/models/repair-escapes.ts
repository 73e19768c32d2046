/** Makes JSON of what models write for JSON. Must never change a valid escape, nor what an invalid one was to say. */

const STRING = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/g
const ESCAPE = /\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|[\s\S])/g

/**
 * Doubles the backslash of illegal escapes (`\;`, `\d`, `C:\users`) and escapes raw control characters, in strings only.
 * `\n`, `\t` and `\b` are legal and stay, also in what was meant as a Windows path.
 *
 * @param text balanced text: each string in it ends
 * @example JSON.parse(repairEscapes(String.raw`{"re": "\d+"}`)) // { re: '\\d+' }
 */
export function repairEscapes(text: string): string {
  return text.replace(STRING, (string) =>
    string
      .replace(ESCAPE, (escape, legal?: string) => (legal === undefined ? `\\${escape}` : escape))
      .replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1)),
  )
}
