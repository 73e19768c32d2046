/** The names that simple wildcards of a shell stand for. */
import { readdir } from 'node:fs/promises'

const MOST = 100

/**
 * @param pattern absolute
 * @returns paths, the pattern itself where nothing matches; undefined when it is too hard, or stands for too many
 */
export async function expandGlob(pattern: string): Promise<string[] | undefined> {
  let found = ['']
  for (const part of pattern.split('/').slice(1)) {
    if (!/[*?[]/.test(part)) {
      found = found.map((path) => `${path}/${part}`)
      continue
    }
    // A pattern with many stars may take for ever to match.
    if (part.includes('[') || part.split('*').length > 3) return undefined
    const matching = toRegExp(part)
    const next: string[] = []
    for (const path of found) {
      for (const name of await readdir(path || '/').catch(() => [])) {
        if (matching.test(name) && (part.startsWith('.') || !name.startsWith('.'))) next.push(`${path}/${name}`)
        if (next.length > MOST) return undefined
      }
    }
    found = next
  }
  return found.length > 0 ? found : [pattern]
}

function toRegExp(part: string): RegExp {
  const source = part.replaceAll(/[*?]|[^*?]+/g, (piece) =>
    piece === '*' ? '.*' : piece === '?' ? '.' : piece.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`),
  )
  return new RegExp(`^${source}$`, 'su')
}
