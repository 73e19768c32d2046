/** The names that the tools of a server have for a model: `mcp__server__tool`. */
import { createHash } from 'node:crypto'

/** What providers take. */
const LIMIT = 64
const DIGITS = 8

/**
 * A name for each tool of a server. Two tools never get the same one, and a name depends only on which tools there are,
 * not on their order.
 *
 * @returns by the tool's own name
 * @example namesOf('files', ['read', 'a.b']) // mcp__files__read, mcp__files__a_b
 */
export function namesOf(server: string, tools: readonly string[]): Map<string, string> {
  const own = [...new Set(tools)]
  const plain = own.map((tool) => `mcp__${server}__${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`)
  const names = own.map((tool, index): [string, string] => {
    const name = plain[index] as string
    const untouched = name === `mcp__${server}__${tool}`
    const taken = plain.some((other, at) => other === name && at !== index)
    return [tool, name.length <= LIMIT && (untouched || !taken) ? name : hashed(name, server, tool)]
  })
  return new Map(names)
}

function hashed(name: string, server: string, tool: string): string {
  const hash = createHash('sha256').update(`${server}\n${tool}`).digest('hex').slice(0, DIGITS)
  return `${name.slice(0, LIMIT - DIGITS - 1)}_${hash}`
}
